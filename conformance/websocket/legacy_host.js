// k6/ws: the Host header.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  legacy('host', '/ws/headers', { headers: { Host: 'elsewhere' } }, (s, log) => s.on('message', (text) => { log.pop(); log.push(JSON.parse(text).headers.Host); s.close(1000); }));
}
