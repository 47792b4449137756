// What a server is sent over HTTP/2: headers in lower case, no connection's own, cookies, lengths.
import http from 'k6/http';
import { check } from 'k6';
const base = __ENV.HTTPS_URL;
const shown = (r) => {
  const headers = r.json('headers');
  const kept = Object.keys(headers).filter((name) => !/^host$|^accept-encoding$/i.test(name)).sort();
  return kept.map((name) => `${name.toLowerCase()}: ${headers[name]}`).join('; ');
};
export const options = { userAgent: 'me' };
export default function () {
  const params = { headers: { 'X-UPPER': 'A', Connection: 'keep-alive', 'Keep-Alive': '5', te: 'trailers' }, cookies: { a: '1', b: '2' } };
  check(http.get(`${base}/anything`, params), { 'proto': (r) => r.proto === 'HTTP/2.0' });
  for (const r of [
    http.get(`${base}/anything`, params),
    http.post(`${base}/anything`, 'body', { headers: { 'Content-Type': 'text/plain' } }),
    http.post(`${base}/anything`, null),
    http.put(`${base}/anything`, { a: 1 }),
    http.del(`${base}/anything`, null),
    http.get(`${base}/anything`, { headers: { Host: 'other.test' } }),
  ]) check(r, { [`${r.request.method}: ${shown(r)}`]: true, [`${r.request.method} data ${JSON.stringify(r.json('data'))}`]: true });
}
