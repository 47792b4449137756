// k6/ws: codes of the server.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export default function () {
  for (const code of [1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015, 1016, 2999, 3000, 3999, 4000, 4999, 5000, 65535, 0]) {
    legacy(`${code}`, `/ws/close?code=${code}&reason=why`, {});
  }
  legacy('none', '/ws/close', {});
}
