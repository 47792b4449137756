// After redirects, the last answer and the first request.
import http from 'k6/http';
import { check } from 'k6';
const path = (url) => url.replace(__ENV.BASE_URL, '');
export default function () {
  const r = http.post(`${__ENV.BASE_URL}/redirect-to?url=${encodeURIComponent('/anything?x=1')}&status_code=307`, 'body', { headers: { 'X-Own': '1' } });
  check(r, {
    [`url ${path(r.url)} request ${r.request.method} ${path(r.request.url)} ${r.request.body}`]: true,
    [`header ${r.json('headers.X-Own')} referer ${path(String(r.json('headers.Referer')))}`]: true,
  });
}
