// ramping-vus needs stages.
export const options = { scenarios: { s: { executor: 'ramping-vus', startVUs: 1 } } };
export default function () {}
