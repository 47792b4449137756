// Streams that the server resets, cuts or leaves hanging.
// out: json
import http from 'k6/http';
import { check } from 'k6';
const base = __ENV.HTTPS_URL;
export default function () {
  for (const path of ['/fault/reset?at=0', '/fault/reset?at=5&in=body', '/fault/stall?at=5&in=body', '/fault/stall?at=0']) {
    const r = http.get(`${base}${path}`, { timeout: 300 });
    check(r, { [`${path}: ${r.status} ${r.error_code} ${r.error}`]: true });
  }
  check(http.get(`${base}/f/1`), { 'the connection goes on': (r) => r.status === 200 && r.timings.connecting === 0 });
}
