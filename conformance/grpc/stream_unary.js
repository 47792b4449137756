// A method with one message each way, as a stream.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const stream = new grpc.Stream(client, 'target.Echo/Say', { discardResponseMessage: false });
  const seen = [];
  stream.on('data', (message) => seen.push(message));
  stream.on('end', () => show('seen', seen));
  stream.write({ text: 'x' });
  stream.end();
  const bare = new grpc.Stream(client, 'target.Flow/Count', { discardResponseMessage: true });
  const discarded = [];
  bare.on('data', (message) => discarded.push(message));
  bare.on('end', () => show('discarded', discarded));
  bare.write({ from: 1, to: 3 });
  bare.end();
}
