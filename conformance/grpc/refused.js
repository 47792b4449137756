// Servers that are not there, or are something else.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  attempt('refused', () => client.connect('127.0.0.1:1', { plaintext: true }));
  attempt('no port', () => client.connect('127.0.0.1', { plaintext: true, timeout: '1s' }));
  attempt('TLS', () => client.connect(ADDRESS, { timeout: '1.5s' }));
  attempt('HTTP/1.1', () => client.connect(__ENV.PEERS, { plaintext: true, timeout: '1.5s' }));
  attempt('blocked', () => client.connect('nobody.invalid:1', { plaintext: true, timeout: '1s' }));
}
