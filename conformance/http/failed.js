// What counts as failed.
// out: json
import http from 'k6/http';
const base = __ENV.BASE_URL;
export default function () {
  http.get(`${base}/status/404`); http.get(`${base}/status/500`); http.get(`${base}/status/204`);
  http.get(`${base}/status/404`, { responseCallback: http.expectedStatuses(404) });
  http.get(`${base}/status/500`, { responseCallback: http.expectedStatuses({ min: 500, max: 599 }) });
  http.get(`${base}/status/404`, { responseCallback: null });
}
