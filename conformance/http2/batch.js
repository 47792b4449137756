// Requests of a batch share a connection.
import http from 'k6/http';
import { check } from 'k6';
import { Counter } from 'k6/metrics';
const dialled = new Counter('dialled');
export const options = { iterations: 3, batch: 12, batchPerHost: 12 };
const url = `${__ENV.HTTPS_URL}/connection`;
export default function () {
  // Several may dial at first: one connection is used.
  dialled.add(http.get(url).timings.connecting > 0 ? 1 : 0);
  const all = http.batch(Array(12).fill(url));
  const connections = new Set(all.map((r) => r.json('number') ?? r.json('connection')));
  check(all, {
    'over HTTP/2': (l) => l.every((r) => r.proto === 'HTTP/2.0' && r.status === 200),
    'one connection': () => connections.size === 1,
    'nothing dialled': (l) => l.every((r) => r.timings.connecting === 0 && r.timings.tls_handshaking === 0),
  });
}
