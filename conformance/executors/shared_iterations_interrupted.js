// What runs at the end of maxDuration is cut without a graceful stop.
import { sleep } from 'k6';
export const options = {
  scenarios: { s: { executor: 'shared-iterations', vus: 2, iterations: 10, maxDuration: '1s', gracefulStop: '0s' } },
};
export default function () { sleep(0.65); }
