// A segment in decimals and a fraction.
// flags: --execution-segment 0.5:3/4
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 8 } } };
export default function () {}
