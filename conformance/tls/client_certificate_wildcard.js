// tlsAuth with a pattern of domains.
import http from 'k6/http';
import { check } from 'k6';
export const options = {
  hosts: { '*.lab.test': __ENV.TLS_PEERS },
  tlsAuth: [{ domains: ['*.lab.test'], cert: __ENV.CLIENT_CERT, key: __ENV.CLIENT_KEY }],
};
export default function () {
  const r = http.get('https://client.lab.test/');
  check(r, { [`${r.status} ${r.error_code} ${r.json('client')}`]: true });
}
