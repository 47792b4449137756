// The server answers or resets before it has read the body.
import http from 'k6/http';
import { check } from 'k6';
const body = 'x'.repeat(8 << 20);
export default function () {
  const early = http.post(`http://${__ENV.PEERS}/early`, body);
  check(early, { [`early ${early.status} ${early.body}`]: true });
  const reset = http.post(`http://${__ENV.PEERS}/reset-upload`, body);
  check(reset, { [`status ${reset.status}`]: true, 'broken pipe or reset': (r) => r.error_code === 1201 || r.error_code === 1220 });
}
