// An arrival that finds no VU is dropped.
import { sleep } from 'k6';
export const options = {
  scenarios: {
    s: { executor: 'ramping-arrival-rate', startRate: 10, preAllocatedVUs: 1, gracefulStop: '0s', stages: [{ duration: '1050ms', target: 10 }] },
  },
};
export default function () { sleep(10); }
