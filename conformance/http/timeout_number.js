// A timeout in milliseconds.
import http from 'k6/http';
import { check } from 'k6';
export default function () { check(http.get(`${__ENV.BASE_URL}/delay/5`, { timeout: 300 }), { 'code 1050': (r) => r.error_code === 1050 }); }
