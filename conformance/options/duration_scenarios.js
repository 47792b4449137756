// duration and scenarios exclude each other.
export const options = { duration: '1s', scenarios: { a: { executor: 'per-vu-iterations' } } };
export default function () {}
