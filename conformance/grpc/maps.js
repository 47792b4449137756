// Maps.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  back(client, 'by name', { byName: { a: 1, '': 2, ü: 3 } });
  back(client, 'by number', { byNumber: { 1: 'a', '-2': 'b' } });
  back(client, 'by bool', { byBool: { true: { name: 'a' }, false: {} } });
  back(client, 'by big', { byBig: { '9223372036854775807': 'RED', 0: 2 } });
  back(client, 'empty', { byName: {} });
  back(client, 'null', { byName: null });
  back(client, 'a list', { byName: [] });
  back(client, 'no number', { byNumber: { x: 'a' } });
  back(client, 'too large', { byNumber: { 4294967296: 'a' } });
  back(client, 'no bool', { byBool: { yes: {} } });
  back(client, 'null value', { byName: { a: null } });
  back(client, 'wrong value', { byName: { a: 'x' } });
}
