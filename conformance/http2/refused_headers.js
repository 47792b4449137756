// Headers that HTTP/2 has no place for.
// out: json
import http from 'k6/http';
import { check } from 'k6';
const base = __ENV.HTTPS_URL;
export default function () {
  for (const headers of [{ Upgrade: 'websocket' }, { Connection: 'upgrade' }, { Connection: 'close' }, { 'Proxy-Connection': 'x' }]) {
    const r = http.get(`${base}/f/2`, { headers });
    check(r, { [`${JSON.stringify(headers)}: ${r.status} ${r.error_code} ${r.error}`]: true });
  }
}
