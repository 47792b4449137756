// k6/ws: arguments of close().
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export default function () {
  for (const code of ['x', undefined, null, 999, 1005, 70000, -1, 0, 4999, '1003', 1000.7]) {
    legacy(`${code}`, '/ws/echo', {}, (s, log) => log.push(`${s.close(code)}`));
  }
  legacy('none', '/ws/echo', {}, (s, log) => log.push(`${s.close()}`));
}
