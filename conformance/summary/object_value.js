// A file's content that is an object.
// written: out.json
export default function () {}
export function handleSummary() { return { 'out.json': { a: 1 } }; }
