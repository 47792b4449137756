// k6/websockets: pings both ways.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

export default async function () {
  await events('ours', '/ws/echo', [], (ws) => { let n = 0; on(ws, 'open', () => { ws.ping(); ws.ping(); }); on(ws, 'pong', () => ++n === 2 && ws.close()); });
  await events('theirs', '/ws/ping?count=3&data=abc', [], (ws) => { let n = 0; on(ws, 'ping', () => ++n === 3 && ws.close()); });
}
