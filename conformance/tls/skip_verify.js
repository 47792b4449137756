// insecureSkipTLSVerify.
import http from 'k6/http';
import { check } from 'k6';
export const options = { insecureSkipTLSVerify: true, hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  for (const name of ['expired', 'unknown', 'wrong']) {
    const r = http.get(`https://${name}.lab.test/`);
    check(r, { [`${name}: ${r.status} ${r.error_code} ${r.error} ${r.tls_version}`]: true });
  }
}
