// Tunnels through a SOCKS 5 proxy, and those it refuses.
// env: HTTPS_PROXY=socks5://{PROXY} HTTP_PROXY=socks5://{PROXY}
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
  const first = http.get('https://good.lab.test/ok');
  show('first', first);
  show('second', http.get('https://good.lab.test/ok'));
  show('other name', http.get('https://tls12.lab.test/ok'));
  show('wrong name', http.get('https://wrong.lab.test/'));
  show('expired', http.get('https://expired.lab.test/'));
  show('HTTP/2', http.get('https://ok.h2.lab.test/'));
  show('forbidden', http.get('https://forbidden.test/'));
  show('gone', http.get('https://gone.test/'));
  show('plain', http.get('http://plain.test:81/ok'));
  check(1, { [http.get('http://plain.test:81/head').body]: true });
  show('plain forbidden', http.get('http://forbidden.test/'));
}
