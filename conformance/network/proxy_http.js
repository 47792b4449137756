// Plain requests through an HTTP proxy: who is asked for what, and what is shown.
// files: proxied.js
// env: HTTP_PROXY=http://{PROXY}
import http from 'k6/http';
import { check } from 'k6';
import { show } from './proxied.js';

export default function () {
  const head = http.get('http://plain.test:81/head');
  show('head', head);
  check(1, { [head.body]: true });
  check(1, { [http.get('http://user:word@plain.test/head').body]: true });
  show('kept', http.get('http://other.test/ok'));
  show('post', http.post('http://plain.test/ok', 'some body'));
  check(1, { [http.post('http://plain.test/ok', 'some body').body]: true });
  show('forbidden', http.get('http://forbidden.test/'));
  show('gone', http.get('http://gone.test/'));
  show('broken', http.get('http://plain.test/half-head'));
  show('this machine', http.get(`http://${__ENV.PEERS}/ok`));
  show('not by this proxy', http.get('https://nowhere.dns.invalid/'));
}
