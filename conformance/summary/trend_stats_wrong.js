// A statistic that does not exist.
export const options = { summaryTrendStats: ['avg', 'average'] };
export default function () {}
