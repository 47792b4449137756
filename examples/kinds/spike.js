// Spike test: does the system survive a sudden crowd, and recover from it? From a few visitors to many within
// seconds, and back. The threshold on recovery looks at the last part of the test only.
import { minutes, seconds, visit } from './visitor.js';

export const options = {
  scenarios: {
    regulars: { executor: 'constant-vus', vus: 10, duration: minutes(6) },
    crowd: {
      executor: 'ramping-vus',
      startTime: minutes(1),
      stages: [
        { duration: minutes(0.2), target: 500 },
        { duration: minutes(1), target: 500 },
        { duration: minutes(0.2), target: 0 },
      ],
      gracefulRampDown: minutes(0.2),
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.05'],
    // `after` is Onrush's: samples before it do not count. k6 ignores it and judges the whole test.
    'http_req_duration{scenario:regulars}': [{ threshold: 'p(95)<500', after: seconds(240) }],
  },
};

export default visit;
