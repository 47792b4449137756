// Soak test: does the system hold out for hours? Leaks, full disks, expiring tokens and slow degradation only show
// over time. A steady rate, moderate and long; the latency threshold is judged window by window.
//
// HOURS   how long (default 4)
import { ask, minutes, seconds } from './visitor.js';

const HOURS = Number(__ENV.HOURS || 4);

export const options = {
  scenarios: {
    steady: {
      executor: 'constant-arrival-rate',
      rate: 50,
      timeUnit: '1s',
      duration: minutes(60 * HOURS),
      preAllocatedVUs: 20,
      maxVUs: 200,
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.001'],
    // In each window of `over`, three bad ones in a row end the wait: degradation is found when it happens.
    http_req_duration: [{ threshold: 'p(99)<800', over: seconds(60), for: 3, abortOnFail: true }],
  },
};

export default ask;
