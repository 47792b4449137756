// ramping-vus with a negative target.
export const options = { scenarios: { s: { executor: 'ramping-vus', stages: [{ duration: '1s', target: -1 }] } } };
export default function () {}
