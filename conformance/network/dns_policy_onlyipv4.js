// dns.policy: onlyIPv4.
// ipv6
// resolver
import http from 'k6/http';
import { check } from 'k6';

// Names of checks may not have `::`.
const shown = (text) => text.split('::').join(';;');

export const options = { dns: { ttl: '0', select: 'first', policy: 'onlyIPv4' }, noConnectionReuse: true };

export default function () {
  const port = __ENV.PEERS.split(':')[1];
  for (const name of ['both', 'one', 'six', 'empty', 'none']) {
    const r = http.get(`http://${name}.dns.test:${port}/ok`);
    const error = r.error.replace(__ENV.DNS_SERVER, 'DNS_SERVER');
    check(1, { [shown(`${name}: ${r.status} ${r.remote_ip} ${r.error_code} ${error}`)]: true });
  }
}
