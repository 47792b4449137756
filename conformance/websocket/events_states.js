// k6/websockets: what cannot be done before and after.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

export default async function () {
  await events('states', '/ws/echo', [], (ws, log) => {
    const attempt = (where) => { for (const name of ['send', 'ping']) try { ws[name]('x'); log.push(`${where} ${name}`); } catch (e) { log.push(`${where} ${name} ${e}`); } };
    attempt('connecting');
    on(ws, 'open', () => { ws.close(); attempt('closing'); log.push(`${ws.close(3000)}`); });
    on(ws, 'close', () => { attempt('closed'); log.push(`${ws.close(3000)}`); });
  });
}
