// ramping-vus: gracefulRampDown cuts iterations of VUs that go, gracefulStop those at the end.
import { sleep } from 'k6';
export const options = {
  scenarios: {
    s: {
      executor: 'ramping-vus', startVUs: 3, gracefulRampDown: '200ms', gracefulStop: '100ms',
      stages: [{ duration: '300ms', target: 3 }, { duration: '0s', target: 1 }, { duration: '500ms', target: 1 }],
    },
  },
};
export default function () { sleep(9); }
