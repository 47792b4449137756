// k6/ws with the option throw.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
// flags: --throw
import { legacy } from './sockets.js';

export default function () {
  legacy('404', '/nothing', {});
  legacy('closed port', 'ws://127.0.0.1:1/', {});
  legacy('URL', 'http://127.0.0.1:1/', {});
}
