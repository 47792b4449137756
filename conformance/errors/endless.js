// An iteration that computes for ever is cut at the end.
export const options = { scenarios: { s: { executor: 'constant-vus', duration: '1s', gracefulStop: '0s' } } };
export default function () { for (;;); }
