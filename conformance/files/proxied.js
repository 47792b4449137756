// What scripts about proxies show of a response: who answered, how, and which phases it had.
import { check } from 'k6';
export function show(what, r) {
  const known = (address) => ['PROXY', 'LOCKED_PROXY'].find((name) => `${r.remote_ip}:${r.remote_port}` === __ENV[name]) || address;
  const error = r.error.replace(__ENV.LOCKED_PROXY, 'LOCKED_PROXY').replace(__ENV.PROXY, 'PROXY').replace(/current time \S+/, 'now');
  const timings = ['connecting', 'tls_handshaking', 'waiting'].filter((phase) => r.timings[phase] > 0).join(' ');
  check(1, { [`${what}: ${r.status} ${r.proto} from ${known('elsewhere')} ${r.error_code} ${error} | ${timings}`]: true });
}
