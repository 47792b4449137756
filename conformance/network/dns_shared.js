// What one VU has asked the others know; failures are not kept, and each spelling is a name of its own.
// resolver
// varies: setup_data
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  dns: { ttl: 'inf', select: 'roundRobin' },
  noConnectionReuse: true,
  scenarios: { s: { executor: 'per-vu-iterations', vus: 3, iterations: 1 } },
};

export function setup() {
  return `${Math.random()}`.slice(2);
}

export default function (id) {
  const port = __ENV.PEERS.split(':')[1];
  sleep(0.15 * __VU);
  const r = http.get(`http://three.${id}.dns.test:${port}/ok`);
  check(1, { [`VU ${__VU} by ${r.remote_ip}`]: true });
  if (__VU === 3) {
    http.get(`http://none.${id}.dns.test:${port}/`);
    http.get(`http://none.${id}.dns.test:${port}/`);
    const again = http.get(`http://THREE.${id}.dns.test:${port}/ok`);
    check(1, { [`other spelling by ${again.remote_ip}`]: true });
    for (const kind of ['three', 'none']) {
      check(1, { [`${kind}: ${http.get(`http://127.0.0.1:${port}/asked/${kind}.${id}.dns.test`).body}`]: true });
    }
  }
}
