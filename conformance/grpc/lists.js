// Lists.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  back(client, 'numbers', { numbers: [1, 2, '3', -4] });
  back(client, 'empty', { numbers: [] });
  back(client, 'null', { numbers: null });
  back(client, 'a null in it', { numbers: [1, null] });
  back(client, 'undefined in it', { texts: ['a', undefined] });
  back(client, 'no list', { numbers: 1 });
  back(client, 'an object', { numbers: { 0: 1 } });
  back(client, 'texts', { texts: ['', 'a'] });
  back(client, 'wrong', { texts: ['a', 1] });
  back(client, 'messages', { many: [{ name: 'a' }, {}, { inner: { name: 'b' } }] });
  back(client, 'null message', { many: [null] });
  back(client, 'typed array', { numbers: new Int32Array([1, 2]) });
}
