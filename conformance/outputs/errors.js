// Errors of requests in csv.
// out: csv
import http from 'k6/http';
export default function () { http.get('http://127.0.0.1:1/x', { tags: { name: 'refused' } }); http.get(`${__ENV.BASE_URL}/status/503`); }
