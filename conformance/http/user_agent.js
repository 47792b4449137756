// userAgent of the options, of a request, and none.
import http from 'k6/http';
import { check } from 'k6';
export const options = { userAgent: 'shopper/1' };
const url = `${__ENV.BASE_URL}/user-agent`;
export default function () {
  check(http.get(url), { options: (r) => r.json('user-agent') === 'shopper/1' });
  check(http.get(url, { headers: { 'User-Agent': 'mine' } }), { request: (r) => r.json('user-agent') === 'mine' });
}
