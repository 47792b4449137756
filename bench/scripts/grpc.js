// Calls over one kept connection of each VU.
//
// ADDRESS    host:port of the built-in target
// CALL       unary: one message and its answer; stream: 1,000 messages from the server
import grpc from 'k6/net/grpc';
import { check } from 'k6';

const client = new grpc.Client();
client.load(['../../crates/testsite/assets/grpc'], 'target.proto');

const calls = {
  unary() {
    const response = client.invoke('target.Echo/Say', { text: 'hello' });
    check(response, { 'status is OK': (r) => r.status === grpc.StatusOK });
  },
  stream() {
    const stream = new grpc.Stream(client, 'target.Flow/Count');
    let sum = 0;
    stream.on('data', (message) => (sum += Number(message.value)));
    stream.on('end', () => check(sum, { 'all have come': (sum) => sum === 500500 }));
    stream.write({ from: 1, to: 1000 });
    stream.end();
  },
};
const call = calls[__ENV.CALL];

export default function () {
  if (__ITER === 0) client.connect(__ENV.ADDRESS, { plaintext: true });
  call();
}
