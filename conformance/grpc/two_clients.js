// Two clients and the schemas of each.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const one = loaded();
const other = new grpc.Client();

export default function () {
  connect(one);
  connect(other);
  show('one', one.invoke('target.Echo/Say', { text: 'x' }).message);
  attempt('other', () => other.invoke('target.Echo/Say', { text: 'x' }));
  show('instances', [one instanceof grpc.Client, {} instanceof grpc.Client]);
}
