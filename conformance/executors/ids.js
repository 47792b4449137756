// Ids of VUs and numbers of iterations.
import { check } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } } };
export default function () {
  check(1, {
    [`vu ${exec.vu.idInTest} ${exec.vu.idInInstance} ${__VU}`]: true,
    [`vu iteration ${exec.vu.iterationInScenario} ${exec.vu.iterationInInstance} ${__ITER}`]: true,
    [`iteration ${exec.scenario.iterationInTest} ${exec.scenario.iterationInInstance}`]: true,
    [`scenario ${exec.scenario.name} ${exec.scenario.executor}`]: true,
  });
}
