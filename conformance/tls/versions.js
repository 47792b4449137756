// tls_version and tls_cipher_suite of a Response, and the tag.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  for (const [name, version] of [['tls12', http.TLS_1_2], ['tls13', http.TLS_1_3]]) {
    const r = http.get(`https://${name}.lab.test/`);
    check(r, { [`${name}: ${r.tls_version} ${r.tls_cipher_suite} ${r.proto} ${r.tls_version === version}`]: true, 'took time': (r) => r.timings.tls_handshaking > 0 });
    check(http.get(`https://${name}.lab.test/`), { 'none for a kept connection': (r) => r.timings.tls_handshaking === 0 && r.timings.connecting === 0 });
  }
}
