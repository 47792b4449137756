// Connections that break once they are encrypted.
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  for (const path of ['cut', 'reset', 'record']) {
    const r = http.get(`https://good.lab.test/${path}`);
    check(r, { [`${path}: ${r.status} ${r.error_code} ${r.error.replace(/127\.0\.0\.1:\d+/g, 'LOCAL')}`]: true });
  }
}
