// A negative start.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', startTime: '-1s' } } };
export default function () {}
