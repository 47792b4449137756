// ramping-vus up: VUs begin in proportion.
import { sleep } from 'k6';
export const options = {
  scenarios: { s: { executor: 'ramping-vus', startVUs: 0, gracefulStop: '0s', stages: [{ duration: '1s', target: 4 }, { duration: '100ms', target: 4 }] } },
};
export default function () { sleep(10); }
