// k6/websockets: compressed messages.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

export default async function () {
  const text = 'hello é '.repeat(1000);
  for (const [name, query] of [['agreed', ''], ['refused', '?deflate=0'], ['with context', '?context=1'], ['in pieces', '?fragment=10']]) {
    await events(name, `/ws/echo${query}`, [null, { compression: 'deflate' }], (ws, log) => { on(ws, 'open', () => { log.push(JSON.stringify(ws.extensions)); ws.send(text); }); on(ws, 'message', (e) => { log.pop(); log.push(`${e.data === text}`); ws.close(); }); });
  }
}
