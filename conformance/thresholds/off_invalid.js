// --no-thresholds: not even wrong ones matter.
// flags: --no-thresholds
export const options = { thresholds: { nonsense: ['count>1'], iterations: ['what'] } };
export default function () {}
