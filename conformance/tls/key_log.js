// SSLKEYLOGFILE is made whether TLS is spoken or not.
// env: SSLKEYLOGFILE=keys.log
// written: keys.log
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  check(http.get(`${__ENV.BASE_URL}/get`), { 'status 200': (r) => r.status === 200 });
}
