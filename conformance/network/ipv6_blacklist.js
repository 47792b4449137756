// blacklistIPs with ranges of IPv6, and of IPv4 in IPv6's clothes.
// ipv6
import http from 'k6/http';
import { check } from 'k6';

// Names of checks may not have `::`.
const shown = (text) => text.split('::').join(';;');

export const options = { blacklistIPs: ['::1/128', '::ffff:127.0.0.0/104', 'fe80::/10'], hosts: { 'six.test': '::1' } };

export default function () {
  const port = __ENV.PEERS.split(':')[1];
  for (const host of ['[::1]', '127.0.0.1', '[::ffff:127.0.0.2]', '[fe80::1]', 'six.test', '[::]', '0.0.0.0']) {
    const r = http.get(`http://${host}:${port}/ok`);
    check(1, { [shown(`${host}: ${r.status} ${r.error_code} ${r.error}`)]: true });
  }
}
