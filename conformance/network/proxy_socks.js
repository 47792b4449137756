// Tunnels through a SOCKS 5 proxy, and those it refuses.
// files: proxied.js
// env: HTTPS_PROXY=socks5://{PROXY} HTTP_PROXY=socks5://{PROXY}
import http from 'k6/http';
import { check } from 'k6';
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
  show('plain', http.get('http://plain.test:81/ok'));
  check(1, { [http.get('http://plain.test:81/head').body]: true });
  show('plain forbidden', http.get('http://forbidden.test/'));
}
