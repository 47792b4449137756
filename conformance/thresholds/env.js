// Thresholds in a variable.
// env: K6_THRESHOLDS='{"iterations":["count==1"]}'
export const options = { thresholds: { iterations: ['count==2'] } };
export default function () {}
