// Cookies of a response.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const r = http.get(`${__ENV.BASE_URL}/response-headers?Set-Cookie=${encodeURIComponent('a=1; Path=/x; HttpOnly; Max-Age=7')}`);
  const { name, value, path, http_only, secure, max_age, domain } = r.cookies.a[0];
  check(1, { [[name, value, path, http_only, secure, max_age, domain].join('|')]: true });
}
