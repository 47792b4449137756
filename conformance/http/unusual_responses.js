// What is allowed and rare: hints, trailers, no reason, fields twice, HTTP/1.0, bodies that must not be there.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const kind of ['interim', 'trailers', 'no-content', 'not-modified', 'no-reason', 'own-reason', 'twice', 'old']) {
    const r = http.get(`http://${__ENV.PEERS}/${kind}`);
    check(r, { [`${kind}: ${r.status} "${r.status_text}" ${r.proto} ${r.error} ${r.error_code} ${JSON.stringify(r.body)}`]: true });
    check(r, { [`${kind} headers ${Object.keys(r.headers).sort().map((k) => `${k}: ${r.headers[k]}`)}`]: true });
    check(r, { [`${kind} cookies ${Object.keys(r.cookies).sort()}`]: true });
  }
  check(http.head(`${__ENV.BASE_URL}/f/10`), { head: (r) => r.body === '' || r.body === null });
}
