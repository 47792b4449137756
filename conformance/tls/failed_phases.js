// Phases of a request whose handshake fails.
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  for (const name of ['wrong', 'alert', 'close', 'records']) {
    const t = http.get(`https://${name}.lab.test/`).timings;
    check(t, { [`${name}: ${['blocked', 'connecting', 'tls_handshaking', 'sending', 'waiting', 'receiving', 'duration'].map((phase) => `${phase} ${t[phase] > 0}`)}`]: true });
  }
}
