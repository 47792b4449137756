// expectedStatuses() with numbers, ranges, both, and what is neither.
// out: json
import http from 'k6/http';
import { check } from 'k6';
const base = __ENV.BASE_URL;
export default function () {
  http.get(`${base}/status/404`, { responseCallback: http.expectedStatuses(200, 404) });
  http.get(`${base}/status/500`, { responseCallback: http.expectedStatuses(200, { min: 400, max: 499 }) });
  http.get(`${base}/status/201`, { responseCallback: http.expectedStatuses({ min: 200, max: 299 }, 404) });
  http.get('http://127.0.0.1:1/', { responseCallback: http.expectedStatuses(0) });
  for (const wrong of [[], ['200'], [{ min: 1 }], [{ min: '1', max: 2 }], [1.5], [null], [{}], [200, 'x']]) {
    try { http.expectedStatuses(...wrong); check(1, { [`${JSON.stringify(wrong)} works`]: true }); } catch (error) { check(1, { [`${JSON.stringify(wrong)} throws ${error.message}`]: true }); }
  }
}
