// Requests over HTTP/2 to the target: bodies, redirects, cookies, compression, statuses.
import http from 'k6/http';
import { check } from 'k6';
const base = __ENV.HTTPS_URL;
export default function () {
  const proto = (r) => `${r.status} ${r.proto} ${r.error}`;
  const get = http.get(`${base}/anything?a=1`, { headers: { 'X-Own': 'Value' } });
  check(get, { [`get ${proto(get)} ${get.json('method')} ${get.json('headers.X-Own')} ${Object.keys(get.headers).sort()}`]: true });
  const post = http.post(`${base}/post`, { a: 1, b: ['x', 'y'] });
  check(post, { [`post ${proto(post)} ${post.json('form.a')} ${post.json('form.b')} ${post.json('headers.Content-Length')}`]: true });
  const large = http.post(`${base}/upload`, 'x'.repeat(300000));
  check(large, { [`large ${proto(large)}`]: true });
  const redirected = http.get(`${base}/redirect/2`);
  check(redirected, { [`redirected ${proto(redirected)} ${redirected.url.replace(base, '')}`]: true });
  http.get(`${base}/cookies/set?a=1`, { redirects: 0 });
  const cookies = http.get(`${base}/cookies`);
  check(cookies, { [`cookies ${proto(cookies)} ${JSON.stringify(cookies.json('cookies'))}`]: true });
  for (const path of ['gzip', 'status/404', 'status/503', 'status/204', 'f/0', 'f/100000']) {
    const r = http.get(`${base}/${path}`);
    check(r, { [`${path} ${proto(r)} "${r.status_text}" ${r.error_code} ${r.body === null ? 'null' : r.body.length > 0}`]: true });
  }
  const head = http.head(`${base}/f/10`);
  check(head, { [`head ${proto(head)} ${head.headers['Content-Length']}`]: true });
  const discarded = http.get(`${base}/f/100000`, { responseType: 'none' });
  check(discarded, { [`discarded ${proto(discarded)} ${discarded.body}`]: true });
  const late = http.get(`${base}/delay/3`, { timeout: 150 });
  check(late, { [`late ${proto(late)} ${late.error_code}`]: true });
  const after = http.get(`${base}/get`);
  check(after, { [`after a timeout ${proto(after)}`]: true });
  const statuses = http.batch(Array.from({ length: 10 }, () => `${base}/delay/0.1`)).map((r) => `${r.status} ${r.proto}`);
  check(1, { [`batch ${[...new Set(statuses)]} ${statuses.length}`]: true });
}
