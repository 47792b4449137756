// No system tags at all.
// out: json csv
import http from 'k6/http';
export const options = { systemTags: [] };
export default function () { http.get(`${__ENV.BASE_URL}/f/10`); }
