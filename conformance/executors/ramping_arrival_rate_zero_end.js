// A rate that falls to nothing before the end.
import { check } from 'k6';
import exec from 'k6/execution';
export const options = {
  scenarios: {
    a: {
      executor: 'ramping-arrival-rate', startRate: 4, preAllocatedVUs: 2,
      stages: [{ duration: '1100ms', target: 4 }, { duration: '0s', target: 0 }, { duration: '900ms', target: 0 }],
    },
  },
};
export default function () { check(1, { [`iteration ${exec.scenario.iterationInTest}`]: true }); }
