// What JSON does to a request before protobuf sees it.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  back(client, 'undefined', { aString: undefined, anInt32: 1 });
  back(client, 'function', { aString: () => 1 });
  back(client, 'toJSON', { aString: { toJSON: () => 'made' } });
  back(client, 'date', { at: new Date(0) });
  back(client, 'big', { anInt32: 1 });
  attempt('bigint', () => client.invoke('target.Echo/All', { anInt64: 1n }).message);
  attempt('a list', () => client.invoke('target.Echo/All', []).message);
  attempt('a text', () => client.invoke('target.Echo/All', 'x').message);
  attempt('a number', () => client.invoke('target.Echo/All', 1).message);
  attempt('cyclic', () => {
    const cycle = {};
    cycle.nested = cycle;
    return client.invoke('target.Echo/All', cycle).message;
  });
}
