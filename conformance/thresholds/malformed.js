// A threshold that cannot be read.
export const options = { thresholds: { iterations: ['count is 5'] } };
export default function () {}
