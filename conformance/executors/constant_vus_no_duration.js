// constant-vus needs a duration.
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 3 } } };
export default function () {}
