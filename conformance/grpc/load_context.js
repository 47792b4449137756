// Loading is for the init context, the rest is not.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = new grpc.Client();
const texts = [];
for (const call of [
  () => client.connect(ADDRESS, { plaintext: true }),
  () => client.invoke('target.Echo/Say', {}),
  () => client.close(),
]) {
  try {
    texts.push(String(call()));
  } catch (e) {
    texts.push(String(e));
  }
}

export default function () {
  show('init', texts);
  attempt('load', () => client.load([], 'target.proto'));
  attempt('loadProtoset', () => client.loadProtoset('target.binpb'));
}
