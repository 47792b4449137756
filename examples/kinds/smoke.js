// Smoke test: does the script work, and does the system answer at all? A few visitors for a minute, no mercy.
// Run it on every change, before any of the larger tests.
//
//   onrush run -e BASE_URL=http://127.0.0.1:8080 examples/kinds/smoke.js
import { minutes, visit } from './visitor.js';

export const options = {
  vus: 3,
  duration: minutes(1),
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
    http_req_duration: ['p(95)<500'],
  },
};

export default visit;
