// What is blocked is so beside a proxy: its own address counts, and names it resolves do not.
// env: HTTP_PROXY=http://{PROXY}
import http from 'k6/http';
import { check } from 'k6';

export const options = { blockHostnames: ['blocked.test'], hosts: { 'static.test': '127.0.0.9' } };

function show(what, r) {
  const known = (address) => ['PROXY', 'LOCKED_PROXY'].find((name) => `${r.remote_ip}:${r.remote_port}` === __ENV[name]) || address;
  const error = r.error.replace(__ENV.LOCKED_PROXY, 'LOCKED_PROXY').replace(__ENV.PROXY, 'PROXY').replace(/current time \S+/, 'now');
  const timings = ['connecting', 'tls_handshaking', 'waiting'].filter((phase) => r.timings[phase] > 0).join(' ');
  check(1, { [`${what}: ${r.status} ${r.proto} from ${known('elsewhere')} ${r.error_code} ${error} | ${timings}`]: true });
}

export default function () {
  show('blocked name', http.get('http://blocked.test/ok'));
  show('static name', http.get('http://static.test/ok'));
}
