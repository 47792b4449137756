// What a Response says of itself over HTTP/2.
// out: json
import http from 'k6/http';
import { check } from 'k6';
const base = __ENV.HTTPS_URL;
export default function () {
  const r = http.get(`${base}/respond?status=201&header=x-lower-case:a&header=X-Twice:1&header=X-Twice:2&body=hi`);
  check(r, {
    [`${r.proto} ${r.status} ${r.status_text}`]: true,
    [`${r.body} ${r.headers['X-Lower-Case']} ${r.headers['X-Twice']}`]: true,
    [`${Object.keys(r.headers).filter((name) => name !== 'Date' && name !== 'Server').sort()}`]: true,
    [`${r.tls_version} ${r.error_code} ${JSON.stringify(r.error)}`]: true,
    'remote address': () => r.remote_ip === '127.0.0.1' && r.remote_port > 0,
    'phases': () => r.timings.connecting > 0 && r.timings.tls_handshaking > 0 && r.timings.waiting > 0,
  });
  const again = http.get(`${base}/f/10`);
  check(again, { 'the same connection': () => again.timings.connecting === 0 && again.timings.tls_handshaking === 0 });
}
