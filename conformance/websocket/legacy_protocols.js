// k6/ws: subprotocols are a header.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export default function () {
  for (const [name, query] of [['first', ''], ['another', '?protocol=zz'], ['none', '?protocol=']]) {
    legacy(name, `/ws/echo${query}`, { headers: { 'Sec-WebSocket-Protocol': 'a, b' } }, (s) => s.close(1000));
  }
}
