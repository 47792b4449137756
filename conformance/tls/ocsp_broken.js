// Stapled OCSP responses that are unusual, malformed or no answer.
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
const kinds = [
  'no-next-update', 'fraction', 'offset', 'early', 'no-time', 'extension', 'critical', 'long', 'other-status', 'two', 'none', 'version',
  'by-name', 'no-responder', 'certificates', 'other-type', 'trailing', 'truncated', 'garbage', 'indefinite',
  'status-0', 'status-1', 'status-2', 'status-3', 'status-5', 'status-6', 'status-9',
];
export default function () {
  for (const kind of kinds) {
    const r = http.get(`https://${kind}.staple.lab.test/`);
    check(r, { [`${kind}: ${JSON.stringify(r.ocsp)} ${r.status} ${r.error}`]: true });
  }
}
