// A negative graceful stop.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', gracefulStop: '-1s' } } };
export default function () {}
