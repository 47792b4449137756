// A threshold that is not a list.
export const options = { thresholds: { iterations: 'count>0' } };
export default function () {}
