// What loading returns.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = new grpc.Client();
const methods = client.load([], 'target.proto');
const more = client.load(['.'], 'target.proto');
const other = client.load(['nowhere', '.'], 'everything.proto');

export default function () {
  const byName = (a, b) => (a.full_method < b.full_method ? -1 : 1);
  show('methods', methods.sort(byName));
  show('again', more.length);
  show('none', other);
}
