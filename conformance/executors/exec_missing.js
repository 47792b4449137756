// A function that is not exported.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', exec: 'nobody' } } };
export default function () {}
