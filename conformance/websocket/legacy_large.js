// k6/ws: a large message.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  const text = 'x'.repeat(3000000);
  legacy('3 MB', '/ws/echo', {}, (s, log) => { s.on('open', () => s.send(text)); s.on('message', (m) => { log.pop(); log.push(`${m.length}`); s.close(1000); }); });
}
