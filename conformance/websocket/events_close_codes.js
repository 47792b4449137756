// k6/websockets: codes of the server.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events } from './sockets.js';

export default async function () {
  for (const code of [1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015, 2999, 3000, 4999, 5000, 0]) {
    await events(`${code}`, `/ws/close?code=${code}&reason=why`, []);
  }
  await events('none', '/ws/close', []);
}
