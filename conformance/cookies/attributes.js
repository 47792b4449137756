// Path, domain and age of cookies.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const jar = http.cookieJar();
  const base = __ENV.BASE_URL;
  jar.set(base, 'path', '1', { path: '/get' });
  jar.set(base, 'secure', '1', { secure: true });
  jar.set(base, 'old', '1', { expires: 'Mon, 02 Jan 2006 15:04:05 MST' });
  jar.set(base, 'young', '1', { max_age: 60 });
  jar.set(base, 'foreign', '1', { domain: 'example.com' });
  const names = (url) => Object.keys(jar.cookiesForURL(url)).sort().join();
  check(1, { [`root ${names(base)}`]: true, [`path ${names(`${base}/get`)}`]: true });
}
