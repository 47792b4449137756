// Addresses that are none.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const url of ['', 'nonsense', 'ftp://127.0.0.1/', 'http://', 'http://[::1']) {
    const response = http.get(url);
    check(response, { [`${url} ${response.status} ${response.error_code}`]: true });
  }
}
