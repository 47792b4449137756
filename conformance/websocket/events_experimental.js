// k6/experimental/websockets is k6/websockets.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js


import { WebSocket, Blob } from 'k6/experimental/websockets';
import { say } from './sockets.js';

export default function () {
  say(`${typeof Blob}`);
  const socket = new WebSocket(`${__ENV.BASE_URL.replace('http', 'ws')}/ws/echo`);
  socket.onopen = () => socket.send('a');
  socket.onmessage = (e) => { say(e.data); socket.close(); };
}
