// Hosts that are no addresses, or look like some.
import http from 'k6/http';
import { check } from 'k6';

// Names of checks may not have `::`.
const shown = (text) => text.split('::').join(';;');

export default function () {
  for (const host of [
    '[127.0.0.1]', '[x]', '[v1.x]', '[]', '[::1', '[::1]18', '[::1]a:1', '[::1]:1:2', '[1::2::3]', '[1:2]', '[12345::]', '[g::]', '[:::]',
    '[:1::]', '[1::2:]', '[1:2:3:4:5:6:7:8:9]', '[1:2:3:4:5:6:7::8]', '[1:2:3:4:5:6:7:1.2.3.4]', '[::1.2.3]',
    '[::1.2.3.456]', '[::1.2.3.04]', '[1.2.3:4]', '[1.2.3.4%25lo]', '[%25lo]', '[fe80::1%25]', '[::1%lo]', '[::%25%zz]', '[%3a:1]', '[::1 ]',
    'a:b:1', 'a::1', 'a:1:', '127.0.0.1.', '2130706433', '1.2.3', '127.00.0.1',
  ]) {
    const r = http.get(`http://${host}/`, { timeout: '2s' });
    check(1, { [shown(`${host}: ${r.error_code} ${r.error}`)]: true });
  }
}
