// handleSummary() that throws: the export is still written.
export default function () {}
export function handleSummary() { throw new Error('no'); }
