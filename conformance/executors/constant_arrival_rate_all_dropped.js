// One iteration that lasts to the end: all others are dropped and one is cut.
// out: json
import { sleep } from 'k6';
export const options = {
  scenarios: {
    s: { executor: 'constant-arrival-rate', rate: 10, timeUnit: '1050ms', duration: '1s', preAllocatedVUs: 1, gracefulStop: '0s' },
  },
};
export default function () { sleep(10); }
