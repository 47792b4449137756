// ramping-arrival-rate needs stages.
export const options = { scenarios: { s: { executor: 'ramping-arrival-rate', startRate: 10, preAllocatedVUs: 1 } } };
export default function () {}
