// k6/ws: URLs that are none.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export default function () {
  for (const url of ['http://127.0.0.1:1/', 'ftp://127.0.0.1:1/', 'ws://u:p@127.0.0.1:1/', 'ws://', 'ws://%zz/', 'ws://127.0.0.1:99999/', 'ws:', 'x:y', 'ws://127.0.0.1:1/#a']) {
    legacy(url, url, {});
  }
  legacy('fragment', '/ws/echo#a', {}, (s) => s.close(1000));
}
