// k6/ws: compressed messages that are none.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export default function () {
  const agreed = 'permessage-deflate;%20server_no_context_takeover;%20client_no_context_takeover';
  for (const [name, data] of [['damaged', 'c104ffffffff'], ['cut', 'c102f248'], ['wrong lengths', 'c104020000ff']]) {
    legacy(name, `/ws/raw?data=${data}&extensions=${agreed}`, { compression: 'deflate' });
  }
}
