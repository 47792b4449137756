// Certificates of wrong kinds, and handshakes that fail: error and error_code of each.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  for (const name of ['good', 'unknown', 'wrong', 'records', 'alert', 'old', 'close', 'reset', 'client']) {
    const r = http.get(`https://${name}.lab.test/`);
    const error = r.error.split(__ENV.TLS_PEERS).join('PEER').replace(/127\.0\.0\.1:\d+/g, 'LOCAL');
    check(r, { [`${name}: ${r.status} ${r.error_code} ${error}`]: true });
  }
  const plain = http.get(`https://${__ENV.PEERS}/ok`);
  check(plain, { [`no TLS: ${plain.status} ${plain.error_code} ${plain.error}`]: true });
  const silent = http.get('https://silent.lab.test/', { timeout: 200 });
  check(silent, { [`silent: ${silent.status} ${silent.error_code} ${silent.error}`]: true });
}
