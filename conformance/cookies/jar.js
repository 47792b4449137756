// A server's cookies are sent back within an iteration.
import http from 'k6/http';
import { check } from 'k6';
export const options = { iterations: 2 };
export default function () {
  check(http.get(`${__ENV.BASE_URL}/cookies`), { 'a new jar': (r) => JSON.stringify(r.json('cookies')) === '{}' });
  http.get(`${__ENV.BASE_URL}/cookies/set?a=1&b=2`, { redirects: 0 });
  const r = http.get(`${__ENV.BASE_URL}/cookies`);
  check(r, { [`a ${r.json('cookies.a')} b ${r.json('cookies.b')}`]: true });
}
