// NO_PROXY: what goes directly.
// files: proxied.js
// env: HTTP_PROXY=http://{PROXY} NO_PROXY=direct.test,.below.test,10.0.0.0/8,*.star.test,port.test:81
import http from 'k6/http';
import { check } from 'k6';
import { show } from './proxied.js';

export const options = { hosts: { 'direct.test': '127.0.0.1' } };

export default function () {
  const port = __ENV.PEERS.split(':')[1];
  show('named', http.get(`http://direct.test:${port}/ok`));
  show('below a named one', http.get(`http://a.direct.test:${port}/ok`));
  for (const name of ['x.below.test', 'below.test', 'x.star.test', 'star.test', '10.1.2.3', 'port.test:81', 'port.test:82', 'other.test']) {
    const r = http.get(`http://${name}/ok`, { timeout: '300ms' });
    check(1, { [`${name}: ${`${r.remote_ip}:${r.remote_port}` === __ENV.PROXY}`]: true });
  }
}
