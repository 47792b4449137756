// Keys of a Response, in their order.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const r = http.get(`${__ENV.BASE_URL}/get`);
  check(r, { [`keys ${Object.keys(r)}`]: true, [`JSON ${Object.keys(JSON.parse(JSON.stringify(r)))}`]: true });
}
