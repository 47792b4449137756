// Breakpoint test: where is the limit? The rate rises until a threshold is crossed, which ends the test (after 30
// minutes at the latest): exit code 99 is what this test is for. Read the rate it had reached from `http_reqs` in the last seconds, or watch it.
//
// RATE   requests a second to rise to (default 20000)
import { ask, minutes, seconds } from './visitor.js';

const RATE = Number(__ENV.RATE || 20000);

export const options = {
  scenarios: {
    rising: {
      executor: 'ramping-arrival-rate',
      startRate: Math.ceil(RATE / 100),
      timeUnit: '1s',
      stages: [{ duration: minutes(30), target: RATE }],
      preAllocatedVUs: 100,
      maxVUs: 2000,
    },
  },
  thresholds: {
    http_req_failed: [{ threshold: 'rate<0.05', abortOnFail: true, delayAbortEval: seconds(10) }],
    http_req_duration: [{ threshold: 'p(95)<1000', abortOnFail: true, delayAbortEval: seconds(10) }],
    // A generator that cannot keep up has found its own limit, not the system's.
    dropped_iterations: [{ threshold: 'rate<1', abortOnFail: true, delayAbortEval: seconds(10) }],
  },
};

export default ask;
