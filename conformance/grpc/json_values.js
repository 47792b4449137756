// Struct, Value and ListValue.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const json = { a: 1, b: 'x', c: true, d: null, e: [1, [2], {}], f: { g: { h: [] } } };
  back(client, 'object', { object: json });
  back(client, 'empty object', { object: {} });
  back(client, 'no object', { object: [] });
  back(client, 'list', { list: [1, 'a', null, json] });
  back(client, 'no list', { list: {} });
  for (const anyJson of [0, 1.5, '', 'x', true, false, null, [], {}, json]) back(client, JSON.stringify(anyJson), { anyJson });
  back(client, 'nan', { anyJson: NaN });
}
