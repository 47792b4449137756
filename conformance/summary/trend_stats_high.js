// A percentile over a hundred.
export const options = { summaryTrendStats: ['p(101)'] };
export default function () {}
