// All forms of batch().
// out: json
import http from 'k6/http';
import { check } from 'k6';
const base = __ENV.BASE_URL;
export default function () {
  const list = http.batch([`${base}/f/1`, ['GET', `${base}/f/2`, null, { tags: { name: 'two' } }], { method: 'POST', url: `${base}/post`, body: 'x' }]);
  check(list, { list: (l) => l.map((r) => r.status).join() === '200,200,200' });
  const named = http.batch({ a: `${base}/f/1`, b: { method: 'GET', url: `${base}/status/404` } });
  check(named, { named: (n) => n.a.status === 200 && n.b.status === 404 });
  check(http.batch([]), { empty: (l) => l.length === 0 });
}
