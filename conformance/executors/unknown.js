// An executor that does not exist.
export const options = { scenarios: { s: { executor: 'constant-rate' } } };
export default function () {}
