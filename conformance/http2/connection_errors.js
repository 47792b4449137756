// Servers that break the protocol.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  for (const kind of ['protocol', 'size', 'flow', 'compression', 'close']) {
    const r = http.post(`https://${kind}.h2.lab.test/`, 'x', { timeout: 500 });
    check(r, { [`${kind}: ${r.status} ${r.error_code} ${r.error}`]: true });
  }
}
