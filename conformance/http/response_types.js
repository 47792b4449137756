// responseType: texts, bytes, nothing; bytes that are no UTF-8.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = `${__ENV.BASE_URL}/bytes/16?seed=7`;
  const kind = (body) => (body === null ? 'null' : typeof body === 'string' ? 'text' : Object.prototype.toString.call(body));
  for (const responseType of ['text', 'binary', 'none']) {
    const r = http.get(url, { responseType });
    check(r, { [`${responseType} ${kind(r.body)} ${r.body === null ? '' : r.body.byteLength || [...r.body].length > 0}`]: true });
    const empty = http.get(`${__ENV.BASE_URL}/f/0`, { responseType });
    check(empty, { [`empty ${responseType} ${kind(empty.body)} ${empty.body && empty.body.byteLength}`]: true });
    const none = http.get(`${__ENV.BASE_URL}/status/204`, { responseType });
    check(none, { [`204 ${responseType} ${kind(none.body)}`]: true });
    const head = http.head(`${__ENV.BASE_URL}/f/10`, { responseType });
    check(head, { [`head ${responseType} ${kind(head.body)}`]: true });
    const failed = http.get('http://127.0.0.1:1/', { responseType });
    check(failed, { [`failed ${responseType} ${kind(failed.body)}`]: true });
  }
  check(http.get(`${__ENV.BASE_URL}/encoding/utf8`), { 'UTF-8': (r) => r.body.includes('∮') });
  check(http.get(url, { responseType: 'binary' }), { 'json of bytes': (r) => { try { r.json(); return 'no'; } catch (error) { return error.message.includes('json'); } } });
}
