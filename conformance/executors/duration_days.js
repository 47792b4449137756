// Days are a unit of durations in the script.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, maxDuration: '1d2h' } } };
export default function () {}
