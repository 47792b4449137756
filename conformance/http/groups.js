// Requests in groups.
// out: json
import http from 'k6/http';
import { group } from 'k6';
export default function () { group('g', () => { http.get(`${__ENV.BASE_URL}/f/1`); group('h', () => http.get(`${__ENV.BASE_URL}/f/1`)); }); }
