// A file that is not there, in all the ways to name it.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const folder = import.meta.resolve('.').replace('file://', '');
const client = new grpc.Client();
const texts = [];
for (const [paths, ...files] of [[[], 'missing.proto'], [null, 'deep/missing.proto'], [['a', 'b'], 'target.proto'], [undefined, 'missing.proto']]) {
  try {
    texts.push(client.load(paths, ...files).length);
  } catch (e) {
    texts.push(String(e).replaceAll(folder.replace(/\/$/, ''), 'FOLDER'));
  }
}

export default function () {
  show('texts', texts);
}
