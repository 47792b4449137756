// An export that is not a function.
export const value = 5;
export const options = { scenarios: { s: { executor: 'per-vu-iterations', exec: 'value' } } };
export default function () {}
