// handleSummary() that returns null.
export default function () {}
export function handleSummary() { return null; }
