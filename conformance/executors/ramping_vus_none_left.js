// The last stage keeps no VU.
// keep: vus_max
import { sleep } from 'k6';
export const options = {
  scenarios: {
    a: {
      executor: 'ramping-vus', startVUs: 2, gracefulRampDown: '5s',
      stages: [{ duration: '500ms', target: 2 }, { duration: '0s', target: 0 }, { duration: '20s', target: 0 }],
    },
  },
};
export default function () { sleep(0.7); }
