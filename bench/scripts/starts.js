// Every executor, one after the other. Each iteration prints when it began and ended:
//
//   scenario VU iteration-of-the-scenario begin end
//
// in milliseconds since the test began, one line each; run with --log-format=raw and --console-output=FILE.
import { sleep } from 'k6';
import exec from 'k6/execution';

const SECONDS = Number(__ENV.SECONDS || 4);
const GAP = 1;
const at = (turn) => `${turn * (SECONDS + GAP)}s`;
const duration = `${SECONDS}s`;

export const options = {
  scenarios: {
    'constant-vus': { executor: 'constant-vus', vus: 20, duration, startTime: at(0), gracefulStop: '1s' },
    'ramping-vus': {
      executor: 'ramping-vus',
      startVUs: 0,
      stages: [{ duration, target: 40 }],
      startTime: at(1),
      gracefulStop: '1s',
    },
    'shared-iterations': { executor: 'shared-iterations', vus: 20, iterations: 800, startTime: at(2), maxDuration: duration },
    'per-vu-iterations': { executor: 'per-vu-iterations', vus: 20, iterations: 40, startTime: at(3), maxDuration: duration },
    'constant-arrival-rate': {
      executor: 'constant-arrival-rate',
      rate: 200,
      duration,
      preAllocatedVUs: 40,
      startTime: at(4),
      gracefulStop: '1s',
    },
    'ramping-arrival-rate': {
      executor: 'ramping-arrival-rate',
      startRate: 50,
      stages: [{ duration, target: 350 }],
      preAllocatedVUs: 60,
      startTime: at(5),
      gracefulStop: '1s',
    },
  },
};

export default function () {
  const begin = exec.instance.currentTestRunDuration;
  sleep(0.05);
  const { name, iterationInTest } = exec.scenario;
  console.log(`${name} ${exec.vu.idInTest} ${iterationInTest} ${begin} ${exec.instance.currentTestRunDuration}`);
}
