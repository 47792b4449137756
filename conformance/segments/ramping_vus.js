// A staircase in a segment.
// flags: --execution-segment 1/4:3/4 --execution-segment-sequence 0,1/4,3/4,1
import { sleep } from 'k6';
export const options = {
  scenarios: {
    s: {
      executor: 'ramping-vus', startVUs: 9, gracefulRampDown: '0s', gracefulStop: '0s',
      stages: [{ duration: '500ms', target: 9 }, { duration: '0s', target: 3 }, { duration: '500ms', target: 3 }],
    },
  },
};
export default function () { sleep(0.75); }
