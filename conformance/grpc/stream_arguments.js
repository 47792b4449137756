// What a stream is made with.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  attempt('no client', () => new grpc.Stream());
  attempt('null', () => new grpc.Stream(null, 'x'));
  attempt('no gRPC client', () => new grpc.Stream({}, 'x'));
  attempt('not connected', () => new grpc.Stream(client, 'target.Flow/Sum'));
  connect(client);
  attempt('no method', () => new grpc.Stream(client));
  attempt('unknown method', () => new grpc.Stream(client, 'target.Flow/Nope'));
  attempt('params', () => new grpc.Stream(client, 'target.Flow/Sum', { nope: 1 }));
  attempt('timeout', () => new grpc.Stream(client, 'target.Flow/Sum', { timeout: true }));
  const stream = new grpc.Stream(client, '/target.Flow/Sum');
  attempt('no handler', () => stream.on('data'));
  attempt('no function', () => stream.on('end', 'x'));
  attempt('unknown event', () => stream.on('dance', () => {}));
  attempt('status', () => stream.on('status', () => {}));
  attempt('nothing written', () => stream.write());
  attempt('null written', () => stream.write(null));
  attempt('end', () => stream.end());
}
