// Requests at once by promises.
import http from 'k6/http';
import { check } from 'k6';
export default async function () {
  const url = `${__ENV.HTTPS_URL}/f/10?delay_ms=100`;
  http.get(url);
  const before = Date.now();
  const all = await Promise.all(Array(10).fill(0).map(() => http.asyncRequest('GET', url)));
  check(all, {
    'all': (l) => l.length === 10 && l.every((r) => r.status === 200 && r.proto === 'HTTP/2.0' && r.timings.connecting === 0),
    'at once': () => Date.now() - before < 900,
  });
}
