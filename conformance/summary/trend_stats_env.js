// K6_SUMMARY_TREND_STATS.
// env: K6_SUMMARY_TREND_STATS=min,p(42)
export default function () {}
