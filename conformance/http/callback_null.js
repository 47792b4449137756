// setResponseCallback(null): nothing is expected of requests.
// out: json
import http from 'k6/http';
http.setResponseCallback(null);
const base = __ENV.BASE_URL;
export default function () {
  http.get(`${base}/status/404`);
  http.get(`${base}/status/404`, { responseCallback: http.expectedStatuses(404) });
}
