// k6/ws: answers other than 101.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export default function () {
  legacy('404', '/nothing', {});
  legacy('redirect', '/redirect/1', {});
  legacy('403', '/status/403', {});
  legacy('500', '/status/500', {});
  legacy('long body', '/f/1000', {}, null);
  legacy('closed port', 'ws://127.0.0.1:1/', {});
}
