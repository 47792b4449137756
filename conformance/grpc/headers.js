// What the server says before and after its message.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const metadata = { 'head-a': '1', 'trail-b': '2', 'head-c-bin': new Uint8Array([104, 105]), 'trail-d-bin': new Uint8Array([111, 107]) };
  show('good', plain(client.invoke('target.Echo/Say', { text: 'x' }, { metadata })));
  show('failed', plain(client.invoke('target.Echo/Fail', { code: 5, message: 'x' }, { metadata })));
}
