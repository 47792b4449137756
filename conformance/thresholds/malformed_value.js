// A threshold whose number is none.
export const options = { thresholds: { iterations: ['count>many'] } };
export default function () {}
