// An HTTP proxy that gets wrong credentials.
// files: proxied.js
// env: HTTP_PROXY=http://user:wrong@{LOCKED_PROXY} HTTPS_PROXY=http://user:wrong@{LOCKED_PROXY}
import http from 'k6/http';
import { show } from './proxied.js';

export default function () {
  show('plain', http.get('http://plain.test/ok'));
  show('tunnel', http.get('https://good.lab.test/ok'));
}
