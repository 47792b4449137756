// System tags in a variable.
// out: json
// env: K6_SYSTEM_TAGS=check,ip,status
import http from 'k6/http';
export default function () { http.get(`${__ENV.BASE_URL}/f/10`); }
