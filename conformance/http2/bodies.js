// Bodies over HTTP/2, both ways, beyond the first windows.
import http from 'k6/http';
import { check } from 'k6';
const base = __ENV.HTTPS_URL;
export default function () {
  const large = http.get(`${base}/bytes/9000000?seed=1`, { responseType: 'binary' });
  check(large, { [`${large.status} ${large.body.byteLength}`]: true });
  check(http.get(`${base}/bytes/9000000?seed=1`, { responseType: 'none' }), { 'discarded': (r) => r.status === 200 && r.body === null });
  check(http.get(`${base}/encoded/gzip/100000`), { 'gzip': (r) => r.body.length === 100000 });
  check(http.head(`${base}/f/100`), { 'HEAD': (r) => r.body === '' && r.headers['Content-Length'] === '100' });
  check(http.get(`${base}/status/204`), { '204': (r) => r.status === 204 && r.body === null });
  const sent = http.post(`${base}/upload`, 'x'.repeat(3000000));
  check(sent, { [`upload ${sent.status} ${sent.body}`]: true });
  const empty = http.post(`${base}/upload`, '');
  check(empty, { [`empty ${empty.status} ${empty.body}`]: true });
  const trailer = http.get(`${base}/respond?body=hi&trailer=X-Sum:1`);
  check(trailer, { [`trailer ${trailer.body} ${trailer.headers['X-Sum']}`]: true });
  const interim = http.get(`${base}/respond?body=hi&interim=103`);
  check(interim, { [`interim ${interim.status} ${interim.body}`]: true });
}
