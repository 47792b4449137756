// k6/websockets: closes that break the protocol.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events } from './sockets.js';

export default async function () {
  for (const [name, data] of [['one byte', '880103'], ['no UTF-8', '880303e8ff'], ['code 0', '88020000'], ['code 1005', '880203ed'], ['in a message', '010161880203e8'], ['long reason', '887d03e8' + '61'.repeat(123)]]) {
    await events(name, `/ws/raw?data=${data}`, []);
  }
}
