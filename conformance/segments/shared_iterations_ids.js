// Global numbers of iterations in a segment.
// flags: --execution-segment 1/3:2/3 --execution-segment-sequence 0,1/3,2/3,1
import { check } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 3, iterations: 10 } } };
export default function () {
  check(1, {
    [`vu ${exec.vu.idInTest} is ${exec.vu.idInInstance} here`]: true,
    [`iteration ${exec.scenario.iterationInTest} is ${exec.scenario.iterationInInstance} here`]: true,
  });
}
