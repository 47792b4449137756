// Methods and bodies after redirects.
import http from 'k6/http';
import { check } from 'k6';
const to = encodeURIComponent('/anything');
export default function () {
  for (const code of [301, 302, 303, 307, 308]) {
    const r = http.post(`${__ENV.BASE_URL}/redirect-to?url=${to}&status_code=${code}`, 'body');
    check(r, { [`${code}: ${r.json('method')} ${r.json('data')}`]: true });
  }
}
