// The tag proto, and a threshold on it.
// out: json csv
import http from 'k6/http';
export const options = {
  thresholds: { 'http_reqs{proto:HTTP/2.0}': ['count==2'], 'http_reqs{proto:HTTP/1.1}': ['count==1'], 'http_reqs{tls_version:tls1.3}': ['count==2'] },
};
export default function () {
  http.get(`${__ENV.HTTPS_URL}/f/1`);
  http.get(`${__ENV.HTTPS_URL}/status/404`);
  http.get(`${__ENV.BASE_URL}/f/1`);
}
