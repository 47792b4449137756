// What the server says of itself.
// files: grpc_lab.js
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = new grpc.Client();

export default function () {
  attempt('connect', () => connect(client, { reflect: true }));
  show('say', client.invoke('target.Echo/Say', { text: 'x' }).message);
  show('all', client.invoke('target.Echo/All', { nested: { name: 'a' }, at: '2020-01-01T00:00:00Z' }).message);
  show('any', client.invoke('target.Echo/All', { packedAny: { '@type': 'type.googleapis.com/target.Note', note: 'n' } }).message.packedAny);
  attempt('unknown', () => client.invoke('target.Echo/Nobody', {}));
  attempt('again', () => connect(client, { reflect: true, reflectMetadata: { a: 'b' } }));
}
