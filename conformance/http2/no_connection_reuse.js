// noConnectionReuse: a connection for each request, still HTTP/2.
import http from 'k6/http';
import { check } from 'k6';
import { Counter } from 'k6/metrics';
const dialled = new Counter('dialled');
export const options = { noConnectionReuse: true };
export default function () {
  for (let i = 0; i < 3; i += 1) {
    const r = http.get(`${__ENV.HTTPS_URL}/f/1`);
    if (r.timings.connecting > 0) dialled.add(1);
    check(r, { [r.proto]: true });
  }
}
