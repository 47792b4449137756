// Credentials of an address, and kinds of auth that do not exist.
import http from 'k6/http';
import { check } from 'k6';
const host = __ENV.BASE_URL.replace('http://', '');
export default function () {
  for (const auth of ['basic', 'unknown', '']) {
    const r = http.get(`http://user:p%40ss@${host}/headers`, { auth });
    check(r, { [`${auth} ${r.status} ${r.error} ${r.json('headers.Authorization')}`]: true });
  }
  const own = http.get(`http://user:pass@${host}/headers`, { headers: { Authorization: 'Own x' } });
  check(own, { [`own ${own.json('headers.Authorization')}`]: true });
  const user = http.get(`http://user@${host}/headers`);
  check(user, { [`user alone ${user.json('headers.Authorization')}`]: true });
}
