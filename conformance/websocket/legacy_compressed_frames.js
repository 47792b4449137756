// k6/ws: frames of compressed messages.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export default function () {
  const agreed = 'permessage-deflate;%20server_no_context_takeover;%20client_no_context_takeover';
  for (const [name, data] of [['hello', 'c107f248cdc9c90700'], ['in pieces', '4103f248cd8004c9c90700'], ['not compressed', '810548656c6c6f'], ['stored', 'c10b000500faff48656c6c6f00'], ['last block', 'c108f348cdc9c9070000'], ['empty', 'c10100'], ['ping between', '4103f248cd89008004c9c90700'], ['compressed ping', 'c90161'], ['rsv2', 'e10161']]) {
    legacy(name, `/ws/raw?data=${data}&extensions=${agreed}`, { compression: 'deflate' });
  }
}
