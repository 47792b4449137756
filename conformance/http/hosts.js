// hosts maps names to addresses.
import http from 'k6/http';
import { check } from 'k6';
const address = __ENV.BASE_URL.replace('http://', '');
export const options = { hosts: { 'shop.test': '127.0.0.1', '*.any.test': address, 'port.test:80': address } };
export default function () {
  check(http.get(`http://shop.test:${address.split(':')[1]}/f/4`), { name: (r) => r.body.length === 4 });
  check(http.get('http://a.any.test/f/5'), { pattern: (r) => r.body.length === 5 });
  check(http.get('http://port.test/f/6'), { 'name with a port': (r) => r.body.length === 6 });
}
