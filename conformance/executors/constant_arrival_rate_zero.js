// A rate of nothing.
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 0, duration: '1s', preAllocatedVUs: 5 } } };
export default function () {}
