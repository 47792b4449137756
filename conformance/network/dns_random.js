// dns.select: random takes any of the addresses.
// resolver
import http from 'k6/http';
import { check } from 'k6';

export const options = { dns: { ttl: 'inf', select: 'random' }, noConnectionReuse: true };

export default function () {
  const port = __ENV.PEERS.split(':')[1];
  const seen = {};
  for (let i = 0; i < 60; i++) {
    seen[http.get(`http://three.dns.test:${port}/ok`).remote_ip] = true;
  }
  check(1, { [Object.keys(seen).sort().join(' ')]: true });
}
