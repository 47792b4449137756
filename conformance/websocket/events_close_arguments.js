// k6/websockets: arguments of close().
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

export default async function () {
  const one = (name, ...args) => events(name, '/ws/echo', [], (ws, log) => on(ws, 'open', () => {
    try { log.push(`${ws.close(...args)} ${ws.readyState}`); } catch (e) { log.push(`threw ${e}`); ws.close(); }
  }));
  for (const code of [undefined, null, 0, 1000, 1001, 999, 2999, 3000, 4999, 5000, -1, 'x', '3001', 3000.7, true]) await one(`${code}`, code);
  await one('reason', 3005, 'bye é');
  await one('number', 1000, 5);
  await one('123', 1000, 'x'.repeat(123));
  await one('124', 1000, 'x'.repeat(124));
  await one('letters', 1000, 'é'.repeat(62));
  await one('no code', undefined, 'why');
}
