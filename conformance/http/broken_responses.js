// Answers that are no HTTP, or stop in the middle: error and error_code of each.
// out: json
import http from 'k6/http';
import { check } from 'k6';
const kinds = [
  'garbage', 'status-line', 'version', 'half-head', 'header', 'length', 'lengths', 'coding', 'truncated', 'chunk', 'half-chunk',
  'nothing', 'reset', 'reset-body', 'bad-gzip', 'unknown-coding',
];
export default function () {
  for (const kind of kinds) {
    const r = http.get(`http://${__ENV.PEERS}/${kind}`);
    const error = r.error.split(__ENV.PEERS).join('PEERS').replace(/127\.0\.0\.1:\d{4,}/g, 'LOCAL');
    check(r, { [`${kind}: ${r.status} ${r.error_code} ${error}`]: true, [`${kind} body ${JSON.stringify(r.body)}`]: true });
  }
}
