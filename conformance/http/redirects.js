// Each hop is a request.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const response = http.get(`${__ENV.BASE_URL}/redirect/3`);
  check(response, { [`status ${response.status}`]: true, 'the last address': (r) => r.url.endsWith('/get') });
}
