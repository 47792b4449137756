// k6/websockets: a text there and back, and the properties on the way.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

export default async function () {
  await events('echo', '/ws/echo', [], (ws, log) => {
    const look = () => log.push(`${ws.readyState} ${ws.bufferedAmount} ${JSON.stringify(ws.extensions)} <${ws.protocol}> ${ws.binaryType} ${ws.url}`);
    look();
    on(ws, 'open', () => { look(); ws.send('hi é'); look(); });
    on(ws, 'message', () => { look(); ws.close(); look(); });
    on(ws, 'close', look);
  });
}
