// Nobody listens.
// out: json csv
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const response = http.get('http://127.0.0.1:1/');
  check(response, { [`status ${response.status} code ${response.error_code}`]: true, 'no body': (r) => r.body === null });
}
