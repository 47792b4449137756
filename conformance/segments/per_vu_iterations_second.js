// The other half of five VUs.
// flags: --execution-segment 1/2:1
import { check } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 5, iterations: 3 } } };
export default function () { check(1, { [`vu ${exec.vu.idInTest} is ${exec.vu.idInInstance} here`]: true }); }
