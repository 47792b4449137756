// shared-iterations without numbers: one VU, one iteration.
export const options = { scenarios: { s: { executor: 'shared-iterations' } } };
export default function () {}
