// tlsAuth without domains, and one that the server does not trust.
import http from 'k6/http';
import { check } from 'k6';
export const options = {
  hosts: { '*.lab.test': __ENV.TLS_PEERS },
  tlsAuth: [{ cert: __ENV.STRANGER_CERT, key: __ENV.STRANGER_KEY }],
};
export default function () {
  const r = http.get('https://client.lab.test/');
  check(r, { [`${r.status} ${r.error_code} ${r.error}`]: true });
}
