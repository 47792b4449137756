// Compressed responses.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const kind of ['gzip', 'deflate', 'brotli', 'zstd']) {
    const r = http.get(`${__ENV.BASE_URL}/${kind}`);
    check(r, { [`${kind} ${r.status} ${r.headers['Content-Encoding']}`]: (r) => r.json() !== undefined });
  }
}
