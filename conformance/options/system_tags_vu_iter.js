// vu and iter are metadata.
// out: json csv
// flags: --system-tags vu,iter,name,group
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () { http.get(`${__ENV.BASE_URL}/f/10`); }
