// --summary-export wins over its variable.
// flags: --summary-export other.json
// written: out.txt
export default function () {}
export function handleSummary() { return { 'out.txt': 'x' }; }
