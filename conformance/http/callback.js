// setResponseCallback() for all requests.
import http from 'k6/http';
http.setResponseCallback(http.expectedStatuses(404));
const base = __ENV.BASE_URL;
export default function () { http.get(`${base}/status/404`); http.get(`${base}/status/200`); }
