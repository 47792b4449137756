// k6/websockets: headers and cookies of the request.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

import http from 'k6/http';

export default async function () {
  const one = (name, params) => events(name, '/ws/headers?cookie=fromserver%3D1', [null, params], (ws, log) => on(ws, 'message', (e) => {
    log.pop();
    const all = JSON.parse(e.data).headers;
    for (const key of ['Connection', 'Upgrade', 'Sec-Websocket-Version', 'X-A', 'User-Agent', 'Cookie']) if (key in all) log.push(`${key}: ${key === 'User-Agent' && all[key] !== 'mine' ? 'preset' : all[key]}`);
    ws.close();
  }));
  await one('none', {});
  await one('own', { headers: { 'x-a': 'b', 'User-Agent': 'mine' } });
  const jar = new http.CookieJar();
  jar.set(__ENV.BASE_URL, 'c', 'd');
  await one('jar', { jar });
  await one('upgrade', { headers: { Upgrade: 'x' } });
}
