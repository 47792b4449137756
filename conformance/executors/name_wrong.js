// A scenario's name with a space.
export const options = { scenarios: { 'a b': { executor: 'per-vu-iterations' } } };
export default function () {}
