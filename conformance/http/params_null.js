// Parameters that are null.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const name of ['responseType', 'compression']) {
    const r = http.get(`${__ENV.BASE_URL}/get`, { [name]: null });
    check(r, { [`${name} ${r.status} ${r.error}`]: true });
  }
}
