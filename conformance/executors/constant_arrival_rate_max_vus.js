// VUs beyond preAllocatedVUs are made as arrivals need them.
import { sleep } from 'k6';
export const options = {
  scenarios: {
    s: { executor: 'constant-arrival-rate', rate: 4, timeUnit: '1050ms', duration: '1s', preAllocatedVUs: 1, maxVUs: 2, gracefulStop: '0s' },
  },
};
export default function () { sleep(10); }
