// Arrivals of the smaller part of an uneven sequence.
// flags: --execution-segment 2/3:1 --execution-segment-sequence 0,1/2,2/3,1
import { check } from 'k6';
import exec from 'k6/execution';
export const options = {
  scenarios: { s: { executor: 'constant-arrival-rate', rate: 20, timeUnit: '1025ms', duration: '1s', preAllocatedVUs: 5, maxVUs: 7 } },
};
export default function () { check(1, { [`iteration ${exec.scenario.iterationInTest}`]: true }); }
