// Redirects over HTTP/2, and from there to HTTP/1.1.
// out: json
import http from 'k6/http';
import { check } from 'k6';
const [base, plain] = [__ENV.HTTPS_URL, __ENV.BASE_URL];
export default function () {
  const three = http.get(`${base}/redirect/3`);
  check(three, { [`${three.status} ${three.proto}`]: true, 'the last address': (r) => r.url.endsWith('/get') });
  const away = http.get(`${base}/redirect-to?url=${encodeURIComponent(`${plain}/get`)}`, { tags: { name: 'away' } });
  check(away, { [`away: ${away.status} ${away.proto}`]: true });
  const kept = http.post(`${base}/redirect-to?url=/post&status_code=307`, 'body');
  check(kept, { [`307: ${kept.status} ${kept.proto} ${kept.json('data')}`]: true });
}
