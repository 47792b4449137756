// Names of methods are sent as they are written.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const method of ['get', 'Post', 'PURGE', 'PROPFIND', 'delete']) {
    const r = http.request(method, `${__ENV.BASE_URL}/anything`);
    check(r, { [`${method}: ${r.status} ${r.status === 200 ? r.json('method') : ''} ${r.request.method}`]: true });
  }
  for (const method of ['', 'A B', undefined, 5]) {
    try {
      const r = http.request(method, `${__ENV.BASE_URL}/anything`);
      check(r, { [`${String(method)}: ${r.status} ${r.error_code} ${r.error}`]: true });
    } catch (error) { check(error, { [`${String(method)} throws ${error.message}`]: true }); }
  }
}
