// setup() that returns null.
export function setup() { return null; }
export default function () {}
