// summaryTrendStats decides on keys of trends.
export const options = { iterations: 2, summaryTrendStats: ['max', 'p(99.9)', 'count', 'med'] };
export default function () {}
export function handleSummary(data) { return { 'data.json': JSON.stringify(data) }; }
