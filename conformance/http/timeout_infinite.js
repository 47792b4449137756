// A timeout without an end.
import http from 'k6/http';
import { check } from 'k6';
export default function () { check(http.get(`${__ENV.BASE_URL}/f/1`, { timeout: Infinity }), { answered: (r) => r.status === 200 }); }
