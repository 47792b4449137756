// What scripts about names share: asking for the same names again, with pauses in seconds, and showing what came of it.
import http from 'k6/http';
import { check, sleep } from 'k6';

const port = __ENV.PEERS.split(':')[1];

// How often the server of names was asked for one that is used four times.
export function showAsked(pause) {
  const name = `one.${Math.random()}`.replace('0.', '') + '.dns.test';
  for (let i = 0; i < 4; i++) {
    http.get(`http://${name}:${port}/ok`);
    if (pause) sleep(pause);
  }
  check(1, { [http.get(`http://127.0.0.1:${port}/asked/${name}`).body]: true });
}

// Which of three addresses was taken each time, of two names by turns.
export function showTurns(pause) {
  const seen = [];
  for (let i = 0; i < 8; i++) {
    const name = i % 3 === 2 ? 'three.other' : 'three.one';
    seen.push(http.get(`http://${name}.dns.test:${port}/ok`).remote_ip.slice(-1));
    if (pause) sleep(pause);
  }
  check(1, { [seen.join(' ')]: true });
}

// What becomes of names with addresses of both families, one, the other, no address, and none that exist.
export function showFamilies() {
  // Names of checks may not have `::`.
  const shown = (text) => text.split('::').join(';;');
  for (const name of ['both', 'one', 'six', 'empty', 'none']) {
    const r = http.get(`http://${name}.dns.test:${port}/ok`);
    const error = r.error.replace(__ENV.DNS_SERVER, 'DNS_SERVER');
    check(1, { [shown(`${name}: ${r.status} ${r.remote_ip} ${r.error_code} ${error}`)]: true });
  }
}
