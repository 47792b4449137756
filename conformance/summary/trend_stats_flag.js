// --summary-trend-stats wins over the script.
// flags: --summary-trend-stats avg,p(10)
export const options = { summaryTrendStats: ['max'] };
export default function () {}
