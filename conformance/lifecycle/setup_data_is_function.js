// setup() that returns a function.
export function setup() { return function () {}; }
export default function () {}
