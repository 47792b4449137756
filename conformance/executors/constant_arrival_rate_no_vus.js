// constant-arrival-rate needs preAllocatedVUs.
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 10, duration: '1s' } } };
export default function () {}
