// A part whose condition has no colon.
export const options = { thresholds: { 'iterations{a}': ['count==1'] } };
export default function () {}
