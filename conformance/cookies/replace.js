// replace decides who wins.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  http.cookieJar().set(__ENV.BASE_URL, 'c', 'jar');
  const both = http.get(`${__ENV.BASE_URL}/headers`, { cookies: { c: 'request' } });
  const replaced = http.get(`${__ENV.BASE_URL}/headers`, { cookies: { c: { value: 'request', replace: true } } });
  check(1, { [`both ${both.json('headers.Cookie')}`]: true, [`replaced ${replaced.json('headers.Cookie')}`]: true });
}
