// handleSummary() that returns nothing: the built-in text, and the export is written.
export default function () {}
export function handleSummary() {}
