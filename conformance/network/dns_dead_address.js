// One address is taken, and no other if it is dead: there is no way back from IPv6 to IPv4.
// ipv6
// resolver
import http from 'k6/http';
import { check } from 'k6';

// Names of checks may not have `::`.
const shown = (text) => text.split('::').join(';;');

export const options = { dns: { ttl: '0', select: 'first', policy: 'preferIPv6' }, noConnectionReuse: true };

export default function () {
  const live = __ENV.PEERS.split(':')[1];
  const half_dead = __ENV.HALF_DEAD.split(':')[1];
  const show = (what, r) => check(1, { [shown(`${what}: ${r.status} ${r.remote_ip} ${r.error_code} ${r.error}`)]: true });
  // A name and its addresses: 127.0.0.2, 127.0.0.1, ::1; only the last is alive, or none.
  show('nobody listens', http.get(`http://both.dns.test:1/`, { timeout: '2s' }));
  show('silence', http.get(`http://both.dns.test:${half_dead}/ok`, { timeout: '700ms' }));
  show('alive', http.get(`http://both.dns.test:${live}/ok`));
}
