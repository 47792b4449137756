// Redirects to nowhere.
// out: json
import http from 'k6/http';
import { check } from 'k6';
const base = `http://${__ENV.PEERS}`;
export default function () {
  for (const kind of ['location', 'no-location', 'to-nowhere', 'to-ftp']) {
    try {
      const r = http.get(`${base}/${kind}`);
      check(r, { [`${kind}: ${r.status} ${r.error_code} ${r.error.replaceAll(':', ';')} ${r.url.replace(base, '')} ${JSON.stringify(r.body)}`]: true });
    } catch (error) {
      check(error, { [`${kind}: ${error.message}`.replaceAll(':', ';').replace(/127.0.0.1;\d{4,}/g, 'PEERS')]: true });
    }
  }
}
