// A segment that cannot be read.
export const options = { executionSegment: '1/0' };
export default function () {}
