// -u over scenarios.
// flags: -u 3
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };
export default function () {}
