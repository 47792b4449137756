// A library in the shape of httpx: a session over k6/http with private fields.
// imports
// out: json
import { check } from 'k6';
import http from 'k6/http';
import { Session } from '{MODULES}/lib/session.js';
const session = new Session({ baseURL: __ENV.BASE_URL, headers: { 'X-Own': '1' }, timeout: '20s' });
export default async function () {
  session.addHeader('X-More', '2');
  session.addTag('part', 'session');
  const got = session.get('/get').json();
  const posted = session.post('/post', { a: 'b' }, { headers: { 'X-More': '3' } }).json();
  const named = session.get(http.url`${__ENV.BASE_URL}/get?x=${1}`);
  const later = await session.asyncGet('/get');
  const both = session.batch([{ method: 'GET', url: '/get' }, { method: 'DELETE', url: '/delete' }], { tags: { part: 'batch' } });
  check(1, {
    [`${got.headers['X-Own']} ${got.headers['X-More']}`]: true,
    [`${posted.form.a} ${posted.headers['X-More']}`]: true,
    [`${named.status} ${later.status} ${both.map((r) => r.request.method)}`]: true,
    [`deleted ${session.delete('/delete').status}`]: true,
  });
}
