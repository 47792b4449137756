// Tags of calls, streams, health checks and reflection.
// files: grpc_lab.js target.proto everything.proto legacy.proto
// flags: --system-tags method,service,status,url,name,group,scenario,check
// out: json
// varies: data_sent data_received
import grpc from 'k6/net/grpc';
import { group } from 'k6';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client, { reflect: true });
  client.invoke('target.Echo/Say', { text: 'x' });
  client.invoke('target.Echo/Fail', { code: 7 }, { tags: { mine: 'yes', name: 'own name' } });
  group('inner', () => client.invoke('/target.Echo/Nothing', {}));
  client.healthCheck();
  const stream = new grpc.Stream(client, 'target.Flow/Sum', { tags: { of: 'a stream' } });
  stream.on('data', () => {});
  stream.write({ value: 1 });
  stream.end();
}
