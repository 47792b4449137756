// The first quarter of shared iterations.
// flags: --execution-segment 0:1/4
import { check } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 1, iterations: 20 }, t: { executor: 'shared-iterations', vus: 8, iterations: 40 } } };
export default function () {}
