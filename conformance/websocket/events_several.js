// k6/websockets: several sockets at once.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

export default async function () {
  await Promise.all([1, 2, 3, 4, 5].map((n) => events(`${n}`, `/ws/echo?wait_ms=${n * 60}`, [], (ws) => { on(ws, 'open', () => ws.send(`${n}`)); on(ws, 'message', () => ws.close(1000, 'done')); })));
}
