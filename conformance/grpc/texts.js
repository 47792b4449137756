// Texts, bytes and bools there and back.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  for (const value of ['', 'plain', 'grün €', '😀', 'a\u0000b', '"\\', 1, true, null, ['x'], {}]) back(client, `string ${JSON.stringify(value)}`, { aString: value });
  for (const value of ['', 'aGk=', 'aGk', 'aGkx', '-_8=', '-_8', '+/8=', '*', 'a', 1, [1]]) back(client, `bytes ${JSON.stringify(value)}`, { someBytes: value });
  back(client, 'bytes array', { someBytes: new Uint8Array([1, 2]) });
  back(client, 'bytes buffer', { someBytes: new ArrayBuffer(2) });
  for (const value of [true, false, 'true', 1, 0, null]) back(client, `bool ${JSON.stringify(value)}`, { aBool: value });
}
