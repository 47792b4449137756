// A SOCKS 5 proxy that asks for credentials.
// files: proxied.js
// env: HTTPS_PROXY=socks5h://user:pass@{LOCKED_PROXY} HTTP_PROXY=socks5://user:pass@{LOCKED_PROXY}
import http from 'k6/http';
import { show } from './proxied.js';

export default function () {
  show('plain', http.get('http://plain.test/ok'));
  show('tunnel', http.get('https://good.lab.test/ok'));
}
