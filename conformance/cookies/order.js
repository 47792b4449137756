// Cookies as they are sent: order, quotes, what is left out.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const jar = http.cookieJar();
  const url = `${__ENV.BASE_URL}/headers`;
  jar.set(__ENV.BASE_URL, 'root', '1');
  jar.set(url, 'deeper', '2', { path: '/headers' });
  jar.set(__ENV.BASE_URL, 'later', 'a b');
  const r = http.get(url, { cookies: { own: 'x,y', second: 'q"uote', third: 'ä' } });
  check(r, { [`${r.json('headers.Cookie').split('; ').slice(-3)}`]: true, [`own ${r.json('headers.Cookie').split('; ').slice(0, -3).sort()}`]: true });
  const line = http.get(url, { headers: { Cookie: 'raw=1' } });
  check(line, { [`beside a header ${line.json('headers.Cookie')}`]: true });
}
