// k6/ws: closes that break the protocol, and what follows a close.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export default function () {
  for (const [name, data] of [['one byte', '880103'], ['no UTF-8', '880303e8ff'], ['code 0', '88020000'], ['code 999', '880203e7'], ['code 1004', '880203ec'], ['code 1005', '880203ed'], ['code 1006', '880203ee'], ['code 1015', '880203f7'], ['code 5000', '88021388'], ['a message after it', '880203e8810161'], ['two', '880203e8880203e9'], ['in a message', '010161880203e8'], ['long reason', '887d03e8' + '61'.repeat(123)]]) {
    legacy(name, `/ws/raw?data=${data}`, {});
  }
}
