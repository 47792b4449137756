// A request that takes too long.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const response = http.get(`${__ENV.BASE_URL}/delay/5`, { timeout: '300ms', tags: { name: 'slow' } });
  check(response, { [`status ${response.status} code ${response.error_code}`]: true });
}
