// A metric that does not exist is a mistake even without a threshold.
export const options = { thresholds: { nope: null } };
export default function () {}
