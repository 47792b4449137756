// A scenario without an executor.
export const options = { scenarios: { s: { vus: 1 } } };
export default function () {}
