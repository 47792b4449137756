// k6/websockets: what an event object has.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js


import { WebSocket } from 'k6/websockets';
import { say } from './sockets.js';

export default function () {
  const socket = new WebSocket(`${__ENV.BASE_URL.replace('http', 'ws')}/ws/echo`);
  const look = (e) => say(`${Object.keys(e).sort().join()} ${e.type} ${e.target === socket} ${Math.abs(e.timestamp - Date.now()) < 60000}`);
  socket.onopen = (e) => { look(e); socket.send('a'); };
  socket.onmessage = (e) => { look(e); socket.ping(); };
  socket.onpong = (e) => { look(e); socket.close(3001, 'r'); };
  socket.onerror = look;
  socket.onclose = look;
}
