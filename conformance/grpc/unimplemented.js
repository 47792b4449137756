// A method the server does not know.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  show('missing', plain(client.invoke('target.Echo/Missing', { text: 'x' })));
}
