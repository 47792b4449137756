// k6/websockets: connections that end without a close.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

export default async function () {
  await events('at once', '/ws/drop', []);
  await events('after a message', '/ws/drop?after=1', [], (ws) => on(ws, 'open', () => ws.send('a')));
  await events('in a head', '/ws/raw?data=81', []);
  await events('in a payload', '/ws/raw?data=810561', []);
  await events('in a close', '/ws/raw?data=880203', []);
  await events('reset', '/ws/drop?how=reset&after=1', [], (ws) => on(ws, 'open', () => ws.send('a')));
}
