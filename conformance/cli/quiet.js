// --quiet shows the summary only.
// flags: --quiet
// written: stdout
export default function () {}
export function handleSummary(data) { return { stdout: Object.keys(data).sort().join() }; }
