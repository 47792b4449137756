// k6/ws: pings both ways.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  legacy('ours', '/ws/echo', {}, (s) => { let n = 0; s.on('open', () => { s.ping(); s.ping(); }); s.on('pong', () => ++n === 2 && s.close(1000)); });
  legacy('theirs', '/ws/ping?count=3&data=abc', {}, (s) => { let n = 0; s.on('ping', () => ++n === 3 && s.close(1000)); });
  legacy('unasked pong', '/ws/raw?data=8a0161&then=keep', {}, (s) => { s.on('pong', () => s.close(1000)); });
}
