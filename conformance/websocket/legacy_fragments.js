// k6/ws: messages in many pieces.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  const text = 'abc é '.repeat(5000);
  for (const fragment of [1000, 7, 40000]) {
    legacy(`${fragment}`, `/ws/echo?fragment=${fragment}`, {}, (s, log) => { s.on('open', () => s.send(text)); s.on('message', (m) => { log.pop(); log.push(`${m === text}`); s.close(1000); }); });
  }
}
