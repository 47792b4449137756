// A second message for a method that takes one.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { connect, loaded, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const stream = new grpc.Stream(client, 'target.Flow/Count');
  let seen;
  stream.on('error', (e) => { seen = e.message; });
  stream.on('end', () => show('seen', seen));
  stream.write({ from: 1, to: 1000 });
  stream.write({ from: 1, to: 2 });
}
