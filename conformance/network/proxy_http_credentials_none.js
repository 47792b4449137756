// An HTTP proxy that gets no credentials.
// files: proxied.js
// env: HTTP_PROXY={LOCKED_PROXY} HTTPS_PROXY={LOCKED_PROXY}
import http from 'k6/http';
import { show } from './proxied.js';

export default function () {
  show('plain', http.get('http://plain.test/ok'));
  show('tunnel', http.get('https://good.lab.test/ok'));
}
