// tlsCipherSuites decides which suite a TLS 1.2 connection has.
import http from 'k6/http';
import { check } from 'k6';
export const options = { tlsCipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'], tlsVersion: 'tls1.2', hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  const r = http.get('https://good.lab.test/');
  check(r, { [`${r.status} ${r.tls_cipher_suite} ${r.error}`]: true });
}
