// Cookies whose names are those of what objects inherit.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = `${__ENV.BASE_URL}/cookies/set?constructor=1&toString=2&hasOwnProperty=3`;
  const { cookies } = http.get(url, { redirects: 0 });
  for (const name of Object.keys(cookies).sort()) check(1, { [`${name} ${cookies[name][0].value}`]: true });
  const jar = http.cookieJar().cookiesForURL(url);
  for (const name of Object.keys(jar).sort()) check(1, { [`jar ${name} ${jar[name]}`]: true });
}
