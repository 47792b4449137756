// k6/ws: cookies of jars, and cookies of the answer.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on, say } from './sockets.js';

import http from 'k6/http';

export default function () {
  const sent = (name, params) => legacy(name, '/ws/headers?cookie=fromserver%3D1', params, (s, log) => s.on('message', (text) => { log.pop(); log.push(`${JSON.parse(text).headers.Cookie}`); s.close(1000); }));
  sent('none', {});
  sent('from the answer', {});
  http.cookieJar().set(__ENV.BASE_URL, 'a', 'b');
  sent('the own jar', {});
  const jar = new http.CookieJar();
  jar.set(__ENV.BASE_URL, 'c', 'd');
  sent('another jar', { jar });
  sent('with a header', { jar, headers: { Cookie: 'e=f' } });
  say(`${JSON.stringify(http.cookieJar().cookiesForURL(__ENV.BASE_URL))} ${JSON.stringify(jar.cookiesForURL(__ENV.BASE_URL))}`);
}
