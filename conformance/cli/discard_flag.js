// --discard-response-bodies.
// flags: --discard-response-bodies
import http from 'k6/http';
import { check } from 'k6';
export default function () { check(http.get(`${__ENV.BASE_URL}/f/10`), { discarded: (r) => r.body === null }); }
