// --summary-mode=disabled.
// flags: --summary-mode=disabled
// written: out.txt
export default function () {}
export function handleSummary() { return { 'out.txt': 'x' }; }
