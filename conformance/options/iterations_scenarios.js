// iterations and scenarios exclude each other.
export const options = { iterations: 1, scenarios: { a: { executor: 'per-vu-iterations' } } };
export default function () {}
