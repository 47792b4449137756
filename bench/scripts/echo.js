// Texts that come back over WebSockets, one at a time on each connection.
//
// BASE_URL   the built-in target
// MODULE     ws or websockets: which of k6's modules
// MESSAGES   how many each connection sends
// BYTES      of a message
import legacy from 'k6/ws';
import { WebSocket } from 'k6/websockets';

const url = `${__ENV.BASE_URL.replace('http', 'ws')}/ws/echo`;
const messages = Number(__ENV.MESSAGES);
const text = 'a'.repeat(Number(__ENV.BYTES));

export default function () {
  let left = messages;
  if (__ENV.MODULE === 'ws') {
    legacy.connect(url, {}, (socket) => {
      socket.on('open', () => socket.send(text));
      socket.on('message', () => (--left > 0 ? socket.send(text) : socket.close(1000)));
    });
    return;
  }
  const socket = new WebSocket(url);
  socket.onopen = () => socket.send(text);
  socket.onmessage = () => (--left > 0 ? socket.send(text) : socket.close());
}
