// ramping-vus down without a graceful ramp-down: each VU is cut.
import { sleep } from 'k6';
export const options = {
  scenarios: {
    s: {
      executor: 'ramping-vus', startVUs: 3, gracefulRampDown: '0s', gracefulStop: '0s',
      stages: [{ duration: '500ms', target: 3 }, { duration: '0s', target: 1 }, { duration: '500ms', target: 1 }],
    },
  },
};
export default function () { sleep(0.75); }
