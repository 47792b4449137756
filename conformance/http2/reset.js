// RST_STREAM with each code.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  for (let code = 0; code <= 14; code += 1) {
    const r = http.post(`https://stream-${code}.h2.lab.test/`, 'x', { timeout: 500 });
    check(r, { [`${code}: ${r.status} ${r.error_code} ${r.error}`]: true });
  }
}
