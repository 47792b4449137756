// No iterations for each VU.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 0 } } };
export default function () {}
