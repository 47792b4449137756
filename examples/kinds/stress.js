// Stress test: what happens above the usual load? Two and three times as many visitors, held at each level.
// Slower is fine here, wrong is not: errors have a threshold, latency has a generous one.
import { minutes, visit } from './visitor.js';

export const options = {
  scenarios: {
    visitors: {
      executor: 'ramping-vus',
      stages: [
        { duration: minutes(2), target: 100 },
        { duration: minutes(5), target: 100 },
        { duration: minutes(2), target: 200 },
        { duration: minutes(5), target: 200 },
        { duration: minutes(2), target: 300 },
        { duration: minutes(5), target: 300 },
        { duration: minutes(3), target: 0 },
      ],
      gracefulRampDown: minutes(0.2),
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.02'],
    http_req_duration: ['p(95)<2000'],
  },
};

export default visit;
