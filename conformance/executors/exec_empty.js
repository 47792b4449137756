// A function without a name.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', exec: '' } } };
export default function () {}
