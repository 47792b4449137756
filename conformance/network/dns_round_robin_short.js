// dns.select: roundRobin goes on where it was, whatever the ttl, for each name by itself.
// resolver
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = { dns: { ttl: '300ms', select: 'roundRobin' }, noConnectionReuse: true };

export default function () {
  const port = __ENV.PEERS.split(':')[1];
  const seen = [];
  for (let i = 0; i < 8; i++) {
    const name = i % 3 === 2 ? 'three.other' : 'three.one';
    seen.push(http.get(`http://${name}.dns.test:${port}/ok`).remote_ip.slice(-1));
    sleep(0.2);
  }
  check(1, { [seen.join(' ')]: true });
}
