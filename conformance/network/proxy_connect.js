// Tunnels through an HTTP proxy, and those it refuses.
// files: proxied.js
// env: HTTPS_PROXY=http://{PROXY}
import http from 'k6/http';
import { show } from './proxied.js';

export default function () {
  const first = http.get('https://good.lab.test/ok');
  show('first', first);
  show('second', http.get('https://good.lab.test/ok'));
  show('other name', http.get('https://tls12.lab.test/ok'));
  show('wrong name', http.get('https://wrong.lab.test/'));
  show('expired', http.get('https://expired.lab.test/'));
  show('HTTP/2', http.get('https://ok.h2.lab.test/'));
  show('forbidden', http.get('https://forbidden.test/'));
  show('gone', http.get('https://gone.test/'));
}
