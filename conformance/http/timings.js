// What the phases of a request hold: a slow answer waits, a slow body is received.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = `http://${__ENV.PEERS}`;
  const first = http.get(`${url}/slow`).timings;
  check(first, {
    waiting: (t) => t.waiting > 140 && t.waiting < 250,
    receiving: (t) => t.receiving > 140 && t.receiving < 250,
    'duration without dialling': (t) => Math.abs(t.duration - t.sending - t.waiting - t.receiving) < 1e-6,
    'blocked with dialling': (t) => t.blocked >= t.connecting && t.connecting > 0,
    'nothing else': (t) => t.looking_up === 0 && t.tls_handshaking === 0,
  });
  const second = http.get(`${url}/ok`).timings;
  check(second, { 'a kept connection': (t) => t.connecting === 0 && t.blocked < first.waiting });
  const discarded = http.get(`${url}/slow`, { responseType: 'none' }).timings;
  check(discarded, { 'discarded bodies are received, too': (t) => t.receiving > 140 });
}
