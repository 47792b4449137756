// Statuses from 400 on have error codes of their own, without a text.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const status of [200, 304, 400, 401, 404, 418, 429, 451, 499, 500, 502, 503, 504, 511, 599]) {
    const r = http.get(`${__ENV.BASE_URL}/status/${status}`);
    check(r, { [`${r.status} ${r.status_text} ${r.error_code} "${r.error}"`]: true });
  }
}
