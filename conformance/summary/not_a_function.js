// handleSummary that is not a function.
export default function () {}
export const handleSummary = 5;
