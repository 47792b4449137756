// Connections that break once they are encrypted, and what Response and tags then say of TLS.
// out: json
// flags: --system-tags check,group,proto,status,method,name,tls_version,error,error_code,ip,expected_response
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  for (const path of ['cut', 'reset', 'record', 'bad-gzip', 'hang']) {
    const r = http.get(`https://good.lab.test/${path}`, { timeout: 300 });
    check(r, { [`${path}: ${r.status} ${r.error_code} ${r.error.replace(/127\.0\.0\.1:\d+/g, 'LOCAL')}`]: true });
    check(r, { [`${path}: "${r.tls_version}" "${r.tls_cipher_suite !== ''}" "${r.proto}" "${r.remote_ip}" ${JSON.stringify(r.body)} ${r.url} ${Object.keys(r.headers)}`]: true });
  }
}
