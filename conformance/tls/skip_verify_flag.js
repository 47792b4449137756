// --insecure-skip-tls-verify.
// flags: --insecure-skip-tls-verify
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () { check(http.get('https://unknown.lab.test/'), { trusted: (r) => r.status === 200 }); }
