// --max-redirects.
// flags: --max-redirects 0
import http from 'k6/http';
import { check } from 'k6';
export default function () { const r = http.get(`${__ENV.BASE_URL}/redirect/1`); check(r, { [`status ${r.status}`]: true }); }
