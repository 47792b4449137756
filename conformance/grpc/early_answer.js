// A server that answers before it has read a large message.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  for (const length of [10, 200_000, 1 << 20, 3 << 20]) {
    const response = plain(client.invoke('target.Echo/Missing', { text: 'x'.repeat(length) }));
    show(`${length}`, [response.status, response.error && response.error.message]);
  }
}
