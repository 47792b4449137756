// Messages of statuses with what has to be escaped.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  for (const message of ['', 'plain', '50% off', 'a\nb\tc', 'grün € 😀', '%41', 'x'.repeat(300)]) {
    show('text', plain(client.invoke('target.Echo/Fail', { code: 9, message })).error);
  }
}
