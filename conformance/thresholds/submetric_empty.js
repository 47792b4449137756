// A part without a condition.
export const options = { thresholds: { 'iterations{}': ['count==1'] } };
export default function () {}
