// shared-iterations: all VUs together.
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 4, iterations: 10 } } };
export default function () {}
