// setup() that returns what JSON cannot hold.
export function setup() { const a = {}; a.a = a; return a; }
export default function () {}
