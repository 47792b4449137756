// A cookie that comes with a redirect goes along.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const r = http.get(`${__ENV.BASE_URL}/cookies/set?a=1`);
  check(r, { [`a ${r.json('cookies.a')} on ${r.url.replace(__ENV.BASE_URL, '')}`]: true, 'none of its own': (r) => Object.keys(r.cookies).length === 0 });
}
