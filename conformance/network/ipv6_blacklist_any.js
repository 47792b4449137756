// blacklistIPs: the range of all IPv6 addresses has none of IPv4.
// ipv6
import http from 'k6/http';
import { check } from 'k6';

// Names of checks may not have `::`.
const shown = (text) => text.split('::').join(';;');

export const options = { blacklistIPs: ['::/0'] };

export default function () {
  const port = __ENV.PEERS.split(':')[1];
  for (const host of ['[::1]', '127.0.0.1', '[::ffff:127.0.0.1]']) {
    const r = http.get(`http://${host}:${port}/ok`);
    check(1, { [shown(`${host}: ${r.status} ${r.error_code} ${r.error}`)]: true });
  }
}
