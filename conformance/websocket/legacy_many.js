// k6/ws: many messages at once.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  legacy('1000', '/ws/count?count=1000&bytes=3&code=1000', {}, (s, log) => { let n = 0; s.on('message', () => { log.pop(); n++; }); s.on('close', () => log.push(`${n}`)); });
  legacy('1000 pings', '/ws/ping?count=1000', {}, (s, log) => { let n = 0; s.on('ping', () => { log.pop(); if (++n === 1000) { log.push('all'); s.close(1000); } }); });
}
