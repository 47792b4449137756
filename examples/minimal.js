// The smallest useful test: one request and one check.
//
//   onrush target &
//   onrush run examples/minimal.js
//   onrush run --vus 100 --duration 30s -e URL=http://127.0.0.1:8080/f/1000 examples/minimal.js
//
// BASE_URL   the system under test (default http://127.0.0.1:8080), where /f/100 is requested: 100 bytes of the target
// URL        another address to request instead
import http from 'k6/http';
import { check } from 'k6';

const URL = __ENV.URL || `${__ENV.BASE_URL || 'http://127.0.0.1:8080'}/f/100`;

export const options = { vus: 10, duration: '10s' };

export default function () {
  const res = http.get(URL);
  check(res, { 'status is 200': (r) => r.status === 200 });
}
