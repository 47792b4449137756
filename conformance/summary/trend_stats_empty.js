// No statistics at all.
export const options = { summaryTrendStats: [] };
export default function () {}
