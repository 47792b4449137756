// The options of a scenario are an object.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', options: 5 } } };
export default function () {}
