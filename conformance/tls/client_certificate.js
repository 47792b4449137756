// tlsAuth: the certificate for its domains.
import http from 'k6/http';
import { check } from 'k6';
export const options = {
  hosts: { '*.lab.test': __ENV.TLS_PEERS },
  tlsAuth: [{ domains: ['client.lab.test'], cert: __ENV.CLIENT_CERT, key: __ENV.CLIENT_KEY }],
};
export default function () {
  for (const name of ['client', 'good']) {
    const r = http.get(`https://${name}.lab.test/`);
    check(r, { [`${name}: ${r.status} ${r.error_code} ${r.json('client')}`]: true });
  }
}
