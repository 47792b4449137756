// Data of setup() with a method toJSON of its own.
export function setup() { return { a: 1, toJSON() { return undefined; } }; }
export default function () {}
