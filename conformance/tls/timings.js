// Phases of requests over TLS: new connections, and kept ones.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const [first, second] = [http.get(`${__ENV.HTTPS_URL}/f/10`).timings, http.get(`${__ENV.HTTPS_URL}/f/10`).timings];
  check(first, {
    'first: all phases': (t) => t.connecting > 0 && t.tls_handshaking > 0 && t.waiting > 0 && t.blocked >= t.connecting + t.tls_handshaking,
    'second: none of dialling': () => second.connecting === 0 && second.tls_handshaking === 0,
    'looking_up is 0': (t) => t.looking_up === 0 && second.looking_up === 0,
  });
}
