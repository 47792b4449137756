// VUs take turns with the addresses of --local-ips; the second is no address of this machine.
// flags: --local-ips 127.0.0.2,192.0.2.1
import http from 'k6/http';
import { check } from 'k6';

export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 4, iterations: 1 } } };

export default function () {
  const r = http.get(`${__ENV.BASE_URL}/status/204`);
  check(r, { [`VU ${__VU}: ${r.status} ${r.error_code} ${r.error}`]: true });
}
