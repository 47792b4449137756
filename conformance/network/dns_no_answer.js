// DNS servers that say nothing, or nothing of use, are the request's timeout.
// resolver
import http from 'k6/http';
import { check } from 'k6';

export const options = { dns: { ttl: '0' } };

export default function () {
  for (const kind of ['silent', 'garbage']) {
    const r = http.get(`http://${kind}.dns.test:1/`);
    check(1, { [`${kind}: ${r.status} ${r.error_code} ${r.error.replace(__ENV.DNS_SERVER, 'DNS_SERVER')}`]: true });
  }
}
