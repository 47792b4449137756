// k6/websockets: values that send() does not take.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

export default async function () {
  for (const [name, v] of [['1', 1], ['1.5', 1.5], ['null', null], ['undefined', undefined], ['object', {}], ['array', []], ['true', true], ['function', () => 1], ['date', new Date(0)]]) {
    await events(name, '/ws/echo', [], (ws, log) => on(ws, 'open', () => { try { ws.send(v); log.push('sent'); } catch (e) { log.push(`${e}`); } ws.close(); }));
  }
}
