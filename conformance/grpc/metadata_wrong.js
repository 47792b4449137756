// Metadata that cannot be sent.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  for (const metadata of [{ 'a b': 'c' }, { '': 'c' }, { a: 'ä' }, { a: 'b\r\nc: d' }, { ':path': 'x' }]) {
    attempt(JSON.stringify(metadata), () => plain(client.invoke('target.Echo/Nothing', {}, { metadata })));
  }
}
