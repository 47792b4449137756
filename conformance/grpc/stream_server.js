// Many messages from the server.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const stream = new grpc.Stream(client, 'target.Flow/Count');
  const seen = [];
  stream.on('data', (message, more) => seen.push([message.value, typeof more.ts, Object.keys(more)]));
  stream.on('error', (e) => seen.push(['error', e]));
  stream.on('end', (value) => {
    show('seen', seen);
    show('end', value);
  });
  stream.write({ from: 1, to: 5 });
  stream.end();
}
