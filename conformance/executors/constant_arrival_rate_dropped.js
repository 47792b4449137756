// An arrival that finds no VU is dropped.
import { sleep } from 'k6';
export const options = {
  scenarios: { s: { executor: 'constant-arrival-rate', rate: 10, timeUnit: '1050ms', duration: '1s', preAllocatedVUs: 1 } },
};
export default function () { sleep(0.26); }
