// rps spaces requests of all VUs.
import http from 'k6/http';
export const options = { rps: 50, iterations: 10, vus: 5 };
export default function () { http.get(`${__ENV.BASE_URL}/f/1`); }
