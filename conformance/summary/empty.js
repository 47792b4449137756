// handleSummary() that returns an empty object: no text at all.
// flags: --quiet
// written: stdout
export default function () {}
export function handleSummary() { return {}; }
