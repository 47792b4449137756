// Only the system tags that are asked for.
// out: json csv
import http from 'k6/http';
export const options = { systemTags: ['status', 'method', 'scenario'] };
export default function () { http.get(`${__ENV.BASE_URL}/f/10`); }
