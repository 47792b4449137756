// k6/websockets: an exception in a handler for close.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js


import { WebSocket } from 'k6/websockets';
import { say } from './sockets.js';

export default function () {
  const socket = new WebSocket(`${__ENV.BASE_URL.replace('http', 'ws')}/ws/close?code=1000`);
  socket.addEventListener('error', (e) => say(`error ${e.error.split(' at ')[0]}`));
  socket.addEventListener('close', (e) => say(`close ${e.code}`));
  socket.onclose = () => { throw new Error('boom'); };
}
