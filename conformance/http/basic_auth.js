// Credentials in an address are not in tags.
// out: json
import http from 'k6/http';
import { check } from 'k6';
const host = __ENV.BASE_URL.replace('http://', '');
export default function () {
  const r = http.get(`http://user:secret@${host}/basic-auth/user/secret`);
  check(r, { [`status ${r.status}`]: true });
}
