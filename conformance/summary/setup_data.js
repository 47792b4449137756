// What setup() returns is in the export.
export function setup() { return { a: [1, { b: null }], c: 'text' }; }
export default function () {}
