// ramping-vus that never has a VU.
export const options = { scenarios: { s: { executor: 'ramping-vus', startVUs: 0, stages: [{ duration: '1s', target: 0 }] } } };
export default function () {}
