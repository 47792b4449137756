// Messages that are too long.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  const long = (value) => {
    const res = client.invoke('target.Echo/Long', { value });
    return [Number(res.status), res.error, res.message.text.length];
  };
  connect(client);
  show('most', long(4194298 - 1));
  show('too long', long(4194304));
  connect(client, { maxReceiveSize: 100 });
  show('within', long(90));
  show('beyond', long(101));
  connect(client, { maxReceiveSize: 5000000 });
  show('raised', long(4200000));
  connect(client, { maxSendSize: 10 });
  const say = (text) => [Number(client.invoke('target.Echo/Say', { text }).status), client.invoke('target.Echo/Say', { text }).error];
  show('sent', say('x'));
  show('not sent', say('x'.repeat(20)));
}
