// A method that takes one message: writing it ends what the client has to say.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { connect, loaded, show } from './grpc_lab.js';

const client = loaded();

export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 1, iterations: 1, maxDuration: '5s', gracefulStop: '0s' } } };

export default function () {
  connect(client);
  const stream = new grpc.Stream(client, 'target.Flow/Count');
  const seen = [];
  stream.on('data', ({ value }) => seen.push(value));
  stream.on('error', (e) => seen.push(['error', e.message]));
  stream.on('end', () => show('seen', seen));
  stream.write({ from: 1, to: 3 });
}
