// Deleting and clearing.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const jar = http.cookieJar();
  const base = __ENV.BASE_URL;
  for (const name of ['a', 'b', 'c']) jar.set(base, name, '1');
  jar.delete(base, 'b');
  check(1, { [`deleted ${Object.keys(jar.cookiesForURL(base)).sort()}`]: true });
  jar.clear(base);
  check(1, { [`cleared ${Object.keys(jar.cookiesForURL(base))}`]: true });
}
