// K6_SUMMARY_TIME_UNIT.
// env: K6_SUMMARY_TIME_UNIT=us
export default function () {}
export function handleSummary(data) { return { 'data.json': JSON.stringify(data) }; }
