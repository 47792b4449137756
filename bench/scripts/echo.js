// Texts that come back over WebSockets, one at a time on each connection.
//
// BASE_URL   the built-in target
// MODULE     ws or websockets: which of k6's modules
// MESSAGES   how many each connection sends
import legacy from 'k6/ws';
import { WebSocket } from 'k6/websockets';

const url = `${__ENV.BASE_URL.replace('http', 'ws')}/ws/echo`;
const messages = Number(__ENV.MESSAGES);

export default function () {
  let left = messages;
  if (__ENV.MODULE === 'ws') {
    legacy.connect(url, {}, (socket) => {
      socket.on('open', () => socket.send('hello'));
      socket.on('message', () => (--left > 0 ? socket.send('hello') : socket.close(1000)));
    });
    return;
  }
  const socket = new WebSocket(url);
  socket.onopen = () => socket.send('hello');
  socket.onmessage = () => (--left > 0 ? socket.send('hello') : socket.close());
}
