// Parameters of a connection that can be used.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  for (const [name, params] of Object.entries({
    nothing: {},
    timeout: { timeout: '3s' },
    'timeout number': { timeout: 3000 },
    sizes: { maxReceiveSize: 1000, maxSendSize: 1000 },
    'sizes zero': { maxReceiveSize: 0, maxSendSize: 0 },
    authority: { authority: 'somebody.test' },
    'no reflection': { reflect: false },
  })) {
    attempt(name, () => connect(client, params));
    show(name, client.invoke('target.Echo/Say', { text: name }).message);
  }
}
