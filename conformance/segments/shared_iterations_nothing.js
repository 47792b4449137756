// A segment that gets no VU skips the scenario.
// flags: --execution-segment 3/4:1 --execution-segment-sequence 0,1/4,1/2,3/4,1
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 2, iterations: 9 } } };
export default function () {}
