// A segment in percent; one number ends a segment that begins at nothing.
// flags: --execution-segment 25%
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 8 } } };
export default function () {}
