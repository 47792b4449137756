// Striped arrivals: a third of them.
// flags: --execution-segment 0:1/3
import { check } from 'k6';
import exec from 'k6/execution';
export const options = {
  scenarios: { s: { executor: 'constant-arrival-rate', rate: 20, timeUnit: '1025ms', duration: '1s', preAllocatedVUs: 6 } },
};
export default function () { check(1, { [`iteration ${exec.scenario.iterationInTest}`]: true }); }
