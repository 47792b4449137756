// `request` shows cookies as they are sent: without what must not be in a header.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const cookies = { plain: 'x', cut: 'x;y "z"\\', blank: 'a b', comma: 'a,b', letters: 'é', empty: '', 'no name': '1', line: 'a\r\nb', text: 'a=b' };
  const attempt = (what, params) => {
    const { request } = http.get(`${__ENV.BASE_URL}/cookies`, params);
    // In which order they are sent is not known.
    const line = (request.headers.Cookie || [''])[0].split('; ').sort().join('; ');
    check(null, { [`${what}: ${line}`]: true });
    for (const name of Object.keys(request.cookies).sort()) {
      check(null, { [`${what}: ${name} ${JSON.stringify(request.cookies[name])}`]: true });
    }
  };
  attempt('parameter', { cookies });
  attempt('parameter and header', { cookies: { own: '"quoted"' }, headers: { Cookie: 'header=1' } });
  attempt('header', { headers: { Cookie: 'a=1; b c=2;c="3"; d' } });
  const jar = new http.CookieJar();
  for (const name of ['plain', 'blank', 'comma']) jar.set(__ENV.BASE_URL, name, cookies[name]);
  attempt('jar', { jar });
}
