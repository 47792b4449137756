// --no-summary: handleSummary() and the export are left out.
// flags: --no-summary
// written: out.txt
export default function () {}
export function handleSummary() { return { 'out.txt': 'x' }; }
