// A header `Cookie` with what must not be in a header.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const text of ['a=b\r\nX: 1', 'a=b\n', 'a=\0', '\r', 'a=\x01', 'a=b', 'a=\t', 'a=é']) {
    for (const cookies of [undefined, { c: 'd' }]) {
      const response = http.get(`${__ENV.BASE_URL}/get`, { headers: { Cookie: text }, cookies });
      check(null, { [`${JSON.stringify(text)} ${!!cookies}: ${response.status} ${response.error_code} ${response.error}`]: true });
    }
  }
}
