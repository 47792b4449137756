// k6/ws: headers of the request, and those it may not have.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  const one = (name, headers) => legacy(name, '/ws/headers', { headers }, (s, log) => s.on('message', (text) => {
    log.pop();
    const all = JSON.parse(text).headers;
    for (const key of ['Connection', 'Upgrade', 'Sec-Websocket-Version', 'Sec-Websocket-Extensions', 'X-A', 'X-B', 'User-Agent', 'Cookie', 'Origin']) if (key in all) log.push(`${key}: ${key === 'User-Agent' && all[key] !== 'mine' ? 'preset' : all[key]}`);
    log.push(`key of ${all['Sec-Websocket-Key'].length}`);
    s.close(1000);
  }));
  one('none', {});
  one('own', { 'x-a': 'b', 'X-B': 5, 'user-agent': 'mine', Origin: 'http://o', Cookie: 'c=d' });
  for (const name of ['Upgrade', 'connection', 'Sec-WebSocket-Key', 'Sec-WebSocket-Version', 'Sec-WebSocket-Extensions']) one(name, { [name]: 'x' });
  one('not a name', { 'a b': 'c' });
  one('two lines', { 'X-A': 'b\nX-B: c' });
}
