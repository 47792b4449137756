// k6/websockets: an open socket keeps the iteration.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js


import { WebSocket } from 'k6/websockets';
import { say } from './sockets.js';

export default function () {
  const socket = new WebSocket(`${__ENV.BASE_URL.replace('http', 'ws')}/ws/echo?wait_ms=100`);
  socket.onopen = () => socket.send('a');
  socket.onmessage = (e) => { say(`got ${e.data}`); setTimeout(() => socket.close(), 50); };
  socket.onclose = () => say('closed');
  say('returned');
}
