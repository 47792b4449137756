// http.url: the address, its name, and what it is to a script.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = http.url`${__ENV.BASE_URL}/anything/${1}/x?q=${'a b'}`;
  const without = (text) => String(text).replaceAll(__ENV.BASE_URL, 'BASE');
  check(url, { [`${typeof url} ${without(url.url)} ${url.name} ${without(url.clean_url)}`]: true });
  check(http.get(url), { got: (r) => r.status === 200 });
  check(http.get(url, { tags: { name: 'own' } }), { 'with a name of its own': (r) => r.status === 200 });
  check(http.get(http.url`${__ENV.BASE_URL}/anything/plain`), { 'nothing inside': (r) => r.status === 200 });
  check(http.post(http.url`${__ENV.BASE_URL}/post?${1}`, 'x'), { posted: (r) => r.status === 200 });
  check(http.get(http.url`${__ENV.BASE_URL}/redirect/${1}`), { redirected: (r) => r.status === 200 });
}
