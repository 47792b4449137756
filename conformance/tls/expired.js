// A certificate that has expired.
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  const r = http.get('https://expired.lab.test/');
  check(r, { [`${r.status} ${r.error_code}`]: true, [`${r.error.replace(/current time \S+/, 'current time TIME')}`]: true });
}
