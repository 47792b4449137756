// k6/websockets: subprotocols.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

export default async function () {
  const one = (name, path, ...args) => events(name, path, args, (ws, log) => on(ws, 'open', () => { log.push(`<${ws.protocol}>`); ws.close(); }));
  await one('text', '/ws/echo', 'chat');
  await one('list', '/ws/echo', ['a', 'b']);
  await one('another', '/ws/echo?protocol=zz', ['a', 'b']);
  await one('none', '/ws/echo?protocol=', ['a', 'b']);
  await one('number', '/ws/echo', 5);
  await one('mixed', '/ws/echo', ['a', 5]);
  await one('empty list', '/ws/echo', []);
  await one('header', '/ws/echo', [], { headers: { 'Sec-WebSocket-Protocol': 'c' } });
  await one('both', '/ws/echo', 'a', { headers: { 'Sec-WebSocket-Protocol': 'b' } });
}
