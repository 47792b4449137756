// Cookies of a request that are null or undefined are left out.
import http from 'k6/http';
import { check } from 'k6';

const URL = `${__ENV.BASE_URL}/cookies`;
export default function () {
  for (const cookies of [{ d: null, e: 'x' }, { d: undefined }, { d: { value: null } }, { d: 5 }, { d: true }]) {
    const { body, request } = http.get(URL, { cookies });
    check(1, { [`${JSON.stringify(cookies)} ${JSON.stringify(JSON.parse(body))} ${JSON.stringify(request.cookies)}`]: true });
  }
}
