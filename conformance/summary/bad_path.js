// A file that cannot be written.
// written: out.txt
export default function () {}
export function handleSummary() { return { 'nowhere/at/all.txt': 'a', 'out.txt': 'b' }; }
