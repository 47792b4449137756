// per-vu-iterations: each VU its own.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 4, iterations: 3 } } };
export default function () {}
