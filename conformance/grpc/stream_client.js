// Many messages to the server.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const stream = new grpc.Stream(client, 'target.Flow/Sum');
  stream.on('data', (message) => show('sum', message));
  stream.on('end', () => show('end', 1));
  for (let value = 1; value <= 100; value++) stream.write({ value });
  stream.end();
  stream.end();
  stream.write({ value: 1 });
}
