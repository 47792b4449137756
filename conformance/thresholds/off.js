// --no-thresholds: not judged.
// flags: --no-thresholds
export const options = { thresholds: { iterations: ['count>1'] } };
export default function () {}
