// k6/websockets: a group and a promise around a socket, and two iterations.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
// flags: -i 3


import { events, on } from './sockets.js';

export default async function () {
  await events(`${__ITER}`, '/ws/echo', [], (ws) => { on(ws, 'open', () => ws.send(`${__ITER}`)); on(ws, 'message', () => ws.close()); });
}
