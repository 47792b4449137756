// ramping-vus down with a graceful ramp-down: nobody is cut.
import { sleep } from 'k6';
export const options = {
  scenarios: {
    s: {
      executor: 'ramping-vus', startVUs: 3, gracefulRampDown: '2s', gracefulStop: '2s',
      stages: [{ duration: '500ms', target: 3 }, { duration: '0s', target: 1 }, { duration: '500ms', target: 1 }],
    },
  },
};
export default function () { sleep(0.75); }
