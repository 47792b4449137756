// A proxy that cannot be reached.
// env: HTTP_PROXY=http://127.0.0.1:1 NO_PROXY=direct.invalid
import http from 'k6/http';
import { check } from 'k6';

export default function () {
  for (const url of ['http://made.up.invalid/', 'http://direct.invalid:1/', 'http://127.0.0.1:1/']) {
    const r = http.get(url);
    const timings = `${r.timings.connecting > 0} ${r.timings.tls_handshaking > 0}`;
    check(r, { [`${url}: ${r.status} ${r.error_code} ${r.error} ${timings} ${r.remote_ip}`]: true });
  }
}
