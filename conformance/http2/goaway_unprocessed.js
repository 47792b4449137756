// GOAWAY before a request was processed.
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  for (const code of [2, 11]) {
    const r = http.get(`https://goaway-${code}.h2.lab.test/`, { timeout: 500 });
    check(r, { [`${code}: ${r.status} ${r.error_code} ${r.error}`]: true });
  }
}
