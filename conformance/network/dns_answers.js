// Answers of a DNS server, good and bad: fields, codes and texts.
// ipv6
// resolver
import http from 'k6/http';
import { check } from 'k6';

// Names of checks may not have `::`.
const shown = (text) => text.split('::').join(';;');

export const options = { dns: { ttl: '0', select: 'first' } };

export default function () {
  const port = __ENV.PEERS.split(':')[1];
  // A run has names of its own, so that its questions can be counted.
  const id = `${Math.random()}`.slice(2);
  for (const kind of ['one', 'three', 'six', 'alias', 'long', 'slow', 'short-lived', 'half-none', 'half-failing', 'none', 'empty', 'failing', 'refused']) {
    const name = `${kind}.${id}.dns.test`;
    const r = http.get(`http://${name}:${port}/ok`);
    const error = r.error.replace(id, 'ID').replace(__ENV.DNS_SERVER, 'DNS_SERVER');
    const slow = r.timings.blocked >= 140 ? 'slow' : '';
    check(1, { [shown(`${kind}: ${r.status} ${r.remote_ip} ${r.error_code} ${error} ${r.timings.looking_up} ${slow}`)]: true });
  }
}
