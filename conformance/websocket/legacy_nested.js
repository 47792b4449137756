// k6/ws: a connection within a callback of another one.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  legacy('outer', '/ws/echo', {}, (s, log) => s.on('open', () => { legacy('inner', '/ws/close?code=1000', {}); log.push('back'); s.close(1000); }));
}
