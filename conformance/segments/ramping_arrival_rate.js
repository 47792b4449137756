// Arrivals of a ramp in a segment.
// flags: --execution-segment 1/4:1/2 --execution-segment-sequence 0,1/4,1/2,1
import { check } from 'k6';
import exec from 'k6/execution';
export const options = {
  scenarios: { s: { executor: 'ramping-arrival-rate', preAllocatedVUs: 8, stages: [{ duration: '1s', target: 41 }] } },
};
export default function () { check(1, { [`iteration ${exec.scenario.iterationInTest}`]: true }); }
