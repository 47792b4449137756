// maxDuration under a second.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', maxDuration: '999ms' } } };
export default function () {}
