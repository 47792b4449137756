// A call whose message is not wanted.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  show('discarded', plain(client.invoke('target.Echo/Say', { text: 'x' }, { discardResponseMessage: true })));
  show('failed', plain(client.invoke('target.Echo/Fail', { code: 5 }, { discardResponseMessage: true })));
}
