// As many requests a second as the machine gives: one small file, no pause,
// and bodies that are thrown away as they arrive.
//
//   onrush run --vus 200 --duration 30s examples/rps.js
//
// BASE_URL   the system under test (default http://127.0.0.1:8080)
import http from 'k6/http';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export const options = {
  vus: 100,
  duration: '10s',
  discardResponseBodies: true,
  thresholds: { http_req_failed: ['rate<0.01'] },
};

export default function () {
  http.get(`${BASE_URL}/static/logo.svg`);
}
