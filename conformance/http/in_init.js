// Requests in init code.
import http from 'k6/http';
http.get(`${__ENV.BASE_URL}/f/1`);
export default function () {}
