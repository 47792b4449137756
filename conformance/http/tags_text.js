// Tags that are a text.
// out: json
import http from 'k6/http';
export default function () { http.get(`${__ENV.BASE_URL}/f/1`, { tags: 'text' }); }
