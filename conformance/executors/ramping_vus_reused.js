// One that has not finished when it is wanted again goes on.
import { check, sleep } from 'k6';
import exec from 'k6/execution';
export const options = {
  scenarios: {
    a: {
      executor: 'ramping-vus', startVUs: 1, gracefulRampDown: '2s', gracefulStop: '3s',
      stages: [{ duration: '500ms', target: 1 }, { duration: '0s', target: 0 }, { duration: '200ms', target: 0 },
        { duration: '0s', target: 1 }, { duration: '800ms', target: 1 }],
    },
  },
};
export default function () {
  check(1, { [`${exec.vu.iterationInScenario} ${exec.vu.iterationInInstance}`]: true });
  sleep(1);
}
