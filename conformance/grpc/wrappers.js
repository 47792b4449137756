// Wrappers: bare values.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  back(client, 'set', { textValue: 'a', bigValue: '7', boolValue: true, bytesValue: 'aGk=', doubleValue: 0.5 });
  back(client, 'zero', { textValue: '', bigValue: 0, boolValue: false, bytesValue: '', doubleValue: 0 });
  back(client, 'null', { textValue: null, bigValue: null });
  back(client, 'wrong', { textValue: 1 });
  back(client, 'an object', { textValue: { value: 'a' } });
  attempt('whole', () => client.invoke('target.Echo/Wrapped', 'John').message);
  attempt('whole empty', () => client.invoke('target.Echo/Wrapped', '').message);
  attempt('whole wrong', () => client.invoke('target.Echo/Wrapped', { value: 'x' }).message);
  attempt('nothing', () => client.invoke('target.Echo/Nothing', {}).message);
  attempt('something', () => client.invoke('target.Echo/Nothing', { a: 1 }).message);
}
