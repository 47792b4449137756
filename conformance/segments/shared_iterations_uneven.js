// Shares of iterations follow the shares of VUs.
// flags: --execution-segment 1/2:5/6 --execution-segment-sequence 0,1/2,5/6,1
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 7, iterations: 29 } } };
export default function () {}
