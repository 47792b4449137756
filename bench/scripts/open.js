// An open connection on which nothing happens any more after one message has come back.
//
// BASE_URL   the built-in target
// PROTOCOL   ws or websockets: a WebSocket with that module; grpc: a stream; none: the VU sleeps
// SLEEP      seconds to sleep
import { sleep } from 'k6';
import grpc from 'k6/net/grpc';
import legacy from 'k6/ws';
import { WebSocket } from 'k6/websockets';

const url = `${__ENV.BASE_URL.replace('http', 'ws')}/ws/echo`;
const client = __ENV.PROTOCOL === 'grpc' ? new grpc.Client() : null;
if (client) client.load(['../../crates/testsite/assets/grpc'], 'target.proto');

const open = {
  none() {
    sleep(Number(__ENV.SLEEP));
  },
  ws() {
    legacy.connect(url, {}, (socket) => {
      socket.on('open', () => socket.send('hello'));
      socket.on('message', () => {});
    });
  },
  websockets() {
    const socket = new WebSocket(url);
    socket.onopen = () => socket.send('hello');
    socket.onmessage = () => {};
  },
  grpc() {
    client.connect(__ENV.BASE_URL.replace('http://', ''), { plaintext: true });
    const stream = new grpc.Stream(client, 'target.Flow/Mirror');
    stream.on('data', () => {});
    stream.write({ text: 'hello' });
  },
}[__ENV.PROTOCOL];

export default function () {
  open();
}
