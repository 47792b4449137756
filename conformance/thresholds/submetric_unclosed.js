// A part whose brace is not closed.
export const options = { thresholds: { 'iterations{a:b': ['count==1'] } };
export default function () {}
