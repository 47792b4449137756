// An option of a scenario that there is none of.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', options: { foo: 1 } } } };
export default function () {}
