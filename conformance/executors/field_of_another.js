// A field of another executor.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', rate: 5 } } };
export default function () {}
