// A request that takes too long, and one over the same connection after it.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const base = __ENV.HTTPS_URL;
  http.get(`${base}/f/1`);
  const late = http.get(`${base}/f/1?delay_ms=5000`, { timeout: 200 });
  check(late, { [`${late.status} ${late.error_code} ${late.error}`]: true });
  const next = http.get(`${base}/f/1`);
  check(next, { [`${next.status} ${next.proto}`]: true, 'the same connection': (r) => r.timings.connecting === 0 });
}
