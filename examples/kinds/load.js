// Load test: does the system hold its objectives under the load of a normal busy hour?
// Ramp up to the usual number of visitors, stay there long enough for averages to settle, ramp down.
import { minutes, visit } from './visitor.js';

export const options = {
  scenarios: {
    visitors: {
      executor: 'ramping-vus',
      stages: [
        { duration: minutes(2), target: 100 },
        { duration: minutes(10), target: 100 },
        { duration: minutes(1), target: 0 },
      ],
      gracefulRampDown: minutes(0.2),
    },
  },
  thresholds: {
    checks: ['rate>0.99'],
    http_req_failed: ['rate<0.01'],
    'http_req_duration{name:front page}': ['p(95)<500', 'p(99)<1000'],
    'http_req_duration{name:prices}': ['p(95)<300'],
  },
};

export default visit;
