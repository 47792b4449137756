// An HTTP proxy that asks for credentials.
// files: proxied.js
// env: HTTP_PROXY=http://user:pass@{LOCKED_PROXY} HTTPS_PROXY=http://user:pass@{LOCKED_PROXY}
import http from 'k6/http';
import { check } from 'k6';
import { show } from './proxied.js';

export default function () {
  const head = http.get('http://plain.test/head');
  show('plain', head);
  check(1, { [head.body]: true });
  show('tunnel', http.get('https://good.lab.test/ok'));
}
