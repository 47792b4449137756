// Throwing a symbol in the init code.
throw Symbol('a word');
export default function () {}
