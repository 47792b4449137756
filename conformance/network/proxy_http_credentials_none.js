// An HTTP proxy that gets no credentials.
// env: HTTP_PROXY={LOCKED_PROXY} HTTPS_PROXY={LOCKED_PROXY}
import http from 'k6/http';
import { check } from 'k6';

export const options = { hosts: { 'direct.test': '127.0.0.1' } };

function show(what, r) {
  const known = (address) => ['PROXY', 'LOCKED_PROXY'].find((name) => `${r.remote_ip}:${r.remote_port}` === __ENV[name]) || address;
  const error = r.error.replace(__ENV.LOCKED_PROXY, 'LOCKED_PROXY').replace(__ENV.PROXY, 'PROXY').replace(/current time \S+/, 'now');
  const timings = ['connecting', 'tls_handshaking', 'waiting'].filter((phase) => r.timings[phase] > 0).join(' ');
  check(1, { [`${what}: ${r.status} ${r.proto} from ${known('elsewhere')} ${r.error_code} ${error} | ${timings}`]: true });
}

export default function () {
  show('plain', http.get('http://plain.test/ok'));
  show('tunnel', http.get('https://good.lab.test/ok'));
}
