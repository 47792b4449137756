// A client that closes while a stream is open.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const stream = new grpc.Stream(client, 'target.Flow/Mirror');
  const seen = [];
  stream.on('data', (message) => {
    seen.push(message);
    client.close();
  });
  stream.on('error', (e) => seen.push(e.code));
  stream.on('end', () => show('seen', [seen[0], seen.length]));
  stream.write({ text: 'x' });
}
