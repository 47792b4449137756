// k6/ws: exceptions of callbacks.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  legacy('setup', '/ws/echo', {}, () => { throw new Error('boom'); });
  legacy('open', '/ws/echo', {}, (s) => s.on('open', () => { throw new Error('boom'); }));
  legacy('message', '/ws/count?count=2', {}, (s) => s.on('message', () => { throw new Error('boom'); }));
  legacy('timer', '/ws/echo', {}, (s) => s.setTimeout(() => { throw new Error('boom'); }, 5));
}
