// An own Content-Type wins over that of a form.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = `${__ENV.BASE_URL}/post`;
  const type = (r) => r.request.headers['Content-Type'];
  check(http.post(url, { a: 1 }, { headers: { 'Content-Type': 'text/plain' } }), { form: (r) => type(r).join() === 'text/plain' && r.json('data') === 'a=1' });
  check(http.post(url, { a: 1 }, { headers: { 'content-type': 'text/plain' } }), { 'in lower case': (r) => type(r).join() === 'text/plain' });
  check(http.post(url, { a: 1 }), { 'by itself': (r) => type(r).join() === 'application/x-www-form-urlencoded' });
  check(http.post(url, { f: http.file('x') }), { multipart: (r) => type(r).length === 1 && type(r)[0].startsWith('multipart/form-data; boundary=') });
  check(http.post(url, { f: http.file('x') }, { headers: { 'Content-Type': 'text/x' } }), { 'own for multipart': (r) => type(r).join() === 'text/x' });
}
