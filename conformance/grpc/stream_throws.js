// An exception in a handler.
// files: grpc_lab.js target.proto everything.proto legacy.proto
// flags: -i 2
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  if (__ITER === 0) connect(client);
  const stream = new grpc.Stream(client, 'target.Flow/Count');
  stream.on('data', (message) => {
    show('data', message);
    throw new Error('in a handler');
  });
  stream.on('end', () => show('end', 1));
  stream.write({ from: 1, to: 1 });
  stream.end();
}
