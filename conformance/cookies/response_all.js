// All attributes of the cookies of a Response.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const line of ['a=1', 'a=1; Path=/x; Domain=shop.test; Secure; HttpOnly', 'a=1; Max-Age=0', 'a=1; Max-Age=-5', 'a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT', 'a="quo ted"', 'a=1; SameSite=Lax; Nonsense=x', '=x', 'novalue', 'a=', 'a=b=c', 'a=1; Max-Age=x', 'a=1; Expires=never']) {
    const r = http.get(`${__ENV.BASE_URL}/response-headers?Set-Cookie=${encodeURIComponent(line)}`);
    check(r, { [`${line}: ${JSON.stringify(r.cookies)}`]: true });
  }
}
