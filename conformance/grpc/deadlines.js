// Calls that run out of time.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const late = client.invoke('target.Echo/Wait', { milliseconds: 2000 }, { timeout: 100 });
  show('late', [Number(late.status), late.error, late.message]);
  const text = client.invoke('target.Echo/Wait', { milliseconds: 2000 }, { timeout: '0.1s' });
  show('late text', [Number(text.status), text.error]);
  const early = client.invoke('target.Echo/Wait', { milliseconds: 10 }, { timeout: 5000 });
  show('early', [Number(early.status), early.message]);
}
