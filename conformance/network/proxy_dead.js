// Proxies that nobody serves, over HTTP and SOCKS 5.
// files: proxied.js
// env: HTTP_PROXY=socks5://127.0.0.1:1 HTTPS_PROXY=http://127.0.0.1:1
import http from 'k6/http';
import { show } from './proxied.js';

export default function () {
  show('SOCKS', http.get('http://plain.test/'));
  show('HTTP', http.get('https://plain.test/'));
}
