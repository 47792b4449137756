// Over TLS.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();
const address = __ENV.HTTPS_URL.replace('https://', '');

export default function () {
  attempt('trusted', () => client.connect(address, { timeout: '5s' }));
  show('call', client.invoke('target.Echo/Say', { text: 'x' }).message);
  attempt('own', () => client.connect(address, { timeout: '5s', tls: { cacerts: __ENV.LAB_CA } }));
  show('call', client.invoke('target.Echo/Say', { text: 'y' }).message);
}
