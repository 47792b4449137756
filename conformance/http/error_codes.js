// Errors of addresses, names and connections.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export const options = { blockHostnames: ['blocked.test', '*.shut.test'], blacklistIPs: ['10.0.0.0/8', 'fd00::/8'], hosts: { 'to-ten.test': '10.0.0.1' } };
export default function () {
  for (const url of [
    'http://127.0.0.1:1/', 'http://blocked.test/', 'http://a.SHUT.test/', 'http://10.9.8.7/', 'http://to-ten.test/', 'http://[fd00::1]/',
    'http://a..b/', 'http://255.255.255.255:9/', 'http://127.0.0.1:0/', 'http://127.0.0.1:99999/', 'http://127.0.0.1:x/', 'http:///path', 'HTTP://127.0.0.1:1/', '//127.0.0.1:1/', 'gopher://x/',
  ]) {
    const r = http.get(url);
    check(r, { [`${url.replaceAll(":", ";")}: ${r.status} ${r.error_code} ${r.error.replaceAll(":", ";")}`]: true });
  }
}
