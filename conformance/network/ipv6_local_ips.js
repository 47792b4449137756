// VUs that connect from an address of the other family than the server, and of the same.
// flags: --local-ips 127.0.0.2
import http from 'k6/http';
import { check } from 'k6';

// Names of checks may not have `::`.
const shown = (text) => text.split('::').join(';;');

export default function () {
  const port = __ENV.PEERS.split(':')[1];
  for (const host of ['[::1]', '127.0.0.1']) {
    const r = http.get(`http://${host}:${port}/ok`);
    check(1, { [shown(`${host}: ${r.status} ${r.remote_ip} ${r.error_code} ${r.error}`)]: true });
  }
}
