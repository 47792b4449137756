// Cookies of one request are not kept.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const first = http.get(`${__ENV.BASE_URL}/cookies`, { cookies: { mine: 'x' } });
  const second = http.get(`${__ENV.BASE_URL}/cookies`);
  check(1, { [`first ${first.json('cookies.mine')}`]: true, [`second ${second.json('cookies.mine')}`]: true });
}
