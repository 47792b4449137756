// Throwing something that is not an error.
export default function () { throw 'just a text'; }
