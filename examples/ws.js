// One connection with k6/ws: the call returns when the connection is over.
//
//   onrush target
//   onrush run examples/ws.js
//
// BASE_URL: the server (default http://127.0.0.1:8080).
import ws from 'k6/ws';
import { check } from 'k6';

const base = (__ENV.BASE_URL || 'http://127.0.0.1:8080').replace('http', 'ws');

export default function () {
  const response = ws.connect(`${base}/ws/echo`, { headers: { 'Sec-WebSocket-Protocol': 'chat' } }, (socket) => {
    socket.on('open', () => {
      socket.send('hello');
      socket.setInterval(() => socket.ping(), 100);
      socket.setTimeout(() => socket.close(1000), 350);
    });
    socket.on('message', (text) => check(text, { 'comes back': (t) => t === 'hello' }));
    socket.on('error', (error) => console.error(error.error()));
  });
  check(response, {
    'switched protocols': (r) => r.status === 101,
    'subprotocol': (r) => r.headers['Sec-Websocket-Protocol'] === 'chat',
  });
}
