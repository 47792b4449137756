// k6/websockets: URLs that are refused at once.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, say } from './sockets.js';

import { WebSocket } from 'k6/websockets';

export default async function () {
  for (const url of ['', 'http://a', 'ftp://a', 'ws://a/#b', 'ws://%zz', '/path', 5, {}, undefined, null, true]) {
    try { new WebSocket(url); say(`${url} is fine`); } catch (e) { say(`${url} ${e}`); }
  }
  try { new WebSocket(); } catch (e) { say(`nothing ${e}`); }
  await events('letters', base.replace('ws', 'WS') + '/ws/close?code=1000', [], (ws, log) => log.push(ws.url));
}
