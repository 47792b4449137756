// k6/websockets: an exception in a handler for error.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js


import { WebSocket } from 'k6/websockets';
import { say } from './sockets.js';

export default function () {
  const socket = new WebSocket(`${__ENV.BASE_URL.replace('http', 'ws')}/ws/drop`);
  socket.addEventListener('error', (e) => say(`error ${e.error.split(' at ')[0]}`));
  socket.addEventListener('close', (e) => say(`close ${e.code}`));
  socket.onerror = () => { throw new Error('boom'); };
}
