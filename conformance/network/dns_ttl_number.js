// dns.ttl: the server is asked again: a number is milliseconds.
// resolver
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = { dns: { ttl: '1', select: 'first' }, noConnectionReuse: true };

export default function () {
  const port = __ENV.PEERS.split(':')[1];
  const name = `one.${Math.random()}`.replace('0.', '') + '.dns.test';
  for (let i = 0; i < 4; i++) {
    http.get(`http://${name}:${port}/ok`);
    sleep(0.05);
  }
  check(1, { [http.get(`http://127.0.0.1:${port}/asked/${name}`).body]: true });
}
