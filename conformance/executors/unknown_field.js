// A field no executor has.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', itterations: 5 } } };
export default function () {}
