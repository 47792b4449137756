// Plain requests through an HTTP proxy: who is asked for what, and what is shown.
// env: HTTP_PROXY=http://{PROXY}
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
  const head = http.get('http://plain.test:81/head');
  show('head', head);
  check(1, { [head.body]: true });
  check(1, { [http.get('http://user:word@plain.test/head').body]: true });
  show('kept', http.get('http://other.test/ok'));
  show('post', http.post('http://plain.test/ok', 'some body'));
  check(1, { [http.post('http://plain.test/ok', 'some body').body]: true });
  show('forbidden', http.get('http://forbidden.test/'));
  show('gone', http.get('http://gone.test/'));
  show('broken', http.get('http://plain.test/half-head'));
  show('this machine', http.get(`http://${__ENV.PEERS}/ok`));
  show('not by this proxy', http.get('https://nowhere.dns.invalid/'));
}
