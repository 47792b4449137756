// Throwing a symbol.
export default function () { throw Symbol('a word'); }
