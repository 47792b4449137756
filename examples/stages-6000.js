// A staged ramp to thousands of users who each post JSON once a second.
//
//   onrush run examples/stages-6000.js                        1 min up, 2 min hold, 30 s down
//   onrush run -e RAMP=10s -e HOLD=10s -e FALL=5s examples/stages-6000.js
//
// Every VU keeps a connection open, so 6,000 VUs need 6,000 file descriptors
// here and at the system under test: see `ulimit -Hn`.
//
// BASE_URL   the system under test (default http://127.0.0.1:8080), whose /post echoes
// URL        another address to post to instead
// VUS        how many users (default 6000)
// RAMP, HOLD, FALL   how long the stages are (default 1m, 2m, 30s)
import http from 'k6/http';
import { check, sleep } from 'k6';

const URL = __ENV.URL || `${__ENV.BASE_URL || 'http://127.0.0.1:8080'}/post`;
const VUS = Number(__ENV.VUS || 6000);

export const options = {
  stages: [
    { duration: __ENV.RAMP || '1m', target: VUS },
    { duration: __ENV.HOLD || '2m', target: VUS },
    { duration: __ENV.FALL || '30s', target: 0 },
  ],
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<1000', 'p(99)<2000'],
    checks: ['rate>0.99'],
  },
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)', 'p(99)', 'count'],
};

const params = { headers: { 'Content-Type': 'application/json' } };

export default function () {
  const payload = JSON.stringify({ user: __VU, visit: __ITER, items: ['tea', 'milk'] });
  const res = http.post(URL, payload, params);
  check(res, {
    'status is 200': (r) => r.status === 200,
    'has a body': (r) => r.body.length > 0,
  });
  sleep(1);
}
