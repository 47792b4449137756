// A batch to a server nobody has spoken to: one of its requests dials the connection that all use.
import http from 'k6/http';
import { check } from 'k6';
export const options = { batchPerHost: 6 };
export default function () {
  const all = http.batch(Array(6).fill(`${__ENV.HTTPS_URL}/f/10?delay_ms=50`));
  check(all, {
    'over HTTP/2': (l) => l.every((r) => r.proto === 'HTTP/2.0' && r.status === 200),
    'one has dialled': (l) => l.filter((r) => r.timings.tls_handshaking > 0).length === 1,
  });
}
