// A VU that is taken away and comes back counts its iterations of the scenario on.
import { check, sleep } from 'k6';
import exec from 'k6/execution';
export const options = {
  scenarios: {
    a: {
      executor: 'ramping-vus', startVUs: 1, gracefulRampDown: '0s', gracefulStop: '0s',
      stages: [{ duration: '500ms', target: 1 }, { duration: '0s', target: 0 }, { duration: '1500ms', target: 0 },
        { duration: '0s', target: 1 }, { duration: '500ms', target: 1 }],
    },
    b: { executor: 'per-vu-iterations', iterations: 2, startTime: '700ms', maxDuration: '1s', gracefulStop: '0s' },
  },
};
export default function () {
  check(1, { [`${exec.scenario.name} ${exec.vu.iterationInScenario} ${exec.vu.iterationInInstance}`]: true });
  sleep(0.35);
}
