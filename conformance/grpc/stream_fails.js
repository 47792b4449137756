// Streams that end with an error.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const run = (name, method, messages, params) => {
    const stream = new grpc.Stream(client, method, params);
    const seen = [];
    stream.on('data', (message) => seen.push(message));
    stream.on('error', (e) => seen.push({ code: Number(e.code), message: e.message, details: e.details, keys: Object.keys(e).sort(), text: e.error() }));
    stream.on('end', () => show(name, [...seen, 'end']));
    for (const message of messages) stream.write(message);
    stream.end();
  };
  run('status', 'target.Flow/Mirror', [{ text: 'a' }, { text: 'fail' }, { text: 'b' }]);
  run('status at the end', 'target.Flow/Count', [{ from: 1, to: 2, code: 6 }]);
  run('timeout', 'target.Flow/Count', [{ from: 1, to: 100, pauseMs: 5000 }], { timeout: 200 });
  run('no such method', 'target.Echo/Missing', [{ text: 'x' }]);
}
