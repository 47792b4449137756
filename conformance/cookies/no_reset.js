// noCookiesReset keeps the jar over iterations.
import http from 'k6/http';
import { check } from 'k6';
export const options = { iterations: 2, noCookiesReset: true };
export default function () {
  check(http.get(`${__ENV.BASE_URL}/cookies`), { 'kept from before': (r) => r.json('cookies.a') === '1' });
  http.get(`${__ENV.BASE_URL}/cookies/set?a=1`, { redirects: 0 });
}
