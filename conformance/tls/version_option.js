// tlsVersion as a range: servers that speak others are refused.
import http from 'k6/http';
import { check } from 'k6';
export const options = { tlsVersion: { min: 'tls1.2', max: 'tls1.2' }, hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  for (const name of ['good', 'tls12', 'tls13']) {
    const r = http.get(`https://${name}.lab.test/`);
    check(r, { [`${name}: ${r.status} ${r.error_code} ${r.error} ${r.tls_version}`]: true });
  }
}
