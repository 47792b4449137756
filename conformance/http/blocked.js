// A blocked host name and a blacklisted address.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export const options = { blockHostnames: ['*.blocked.test'], blacklistIPs: ['10.0.0.0/8'] };
export default function () {
  check(http.get('http://www.blocked.test/'), { 'code 1111': (r) => r.error_code === 1111 });
  check(http.get('http://10.1.2.3/'), { 'code 1110': (r) => r.error_code === 1110 });
}
