// IPv6 addresses in URLs and in hosts, and what they are called afterwards.
// ipv6
import http from 'k6/http';
import { check } from 'k6';

// Names of checks may not have `::`.
const shown = (text) => text.split('::').join(';;');

const port = __ENV.PEERS.split(':')[1];
export const options = {
  noConnectionReuse: true,
  hosts: { 'six.test': '::1', 'port.test': `[::1]:${port}`, 'mapped.test': '::ffff:127.0.0.1', 'one.test:1': `[::1]:${port}` },
};

export default function () {
  for (const host of [
    '[::1]', '[0:0:0:0:0:0:0:1]', '[::0001]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::1%25lo]', '[::]', '0.0.0.0',
    '::1', 'six.test', 'mapped.test',
  ]) {
    const r = http.get(`http://${host}:${port}/ok`);
    check(1, { [shown(`${host}: ${r.status} ${r.remote_ip} ${r.remote_port == port} ${r.url.replace(port, 'P')} ${r.error}`)]: true });
  }
  for (const host of ['port.test', 'one.test:1']) {
    const r = http.get(`http://${host}/ok`);
    check(1, { [shown(`${host}: ${r.status} ${r.remote_ip} ${r.remote_port == port} ${r.error}`)]: true });
  }
  const head = http.get(`http://[::1]:${port}/head`).body;
  check(1, { [shown(head.replace(port, 'P'))]: true });
  check(1, { [shown(`refused: ${http.get('http://[::1]:1/').error_code}`)]: true });
}
