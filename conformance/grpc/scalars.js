// Numbers, texts and bytes there and back.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  show('unset', client.invoke('target.Echo/All', {}).message);
  const fields = ['aDouble', 'aFloat', 'anInt32', 'anInt64', 'aUint32', 'aUint64', 'aSint32', 'aSint64', 'aFixed32', 'aFixed64', 'aSfixed32', 'aSfixed64'];
  for (const value of [0, 1, -1, 1.5, 2147483647, 2147483648, -2147483648, 4294967295, 4294967296, 9007199254740991, 1e21, '7', '-7', '1.0', '1e2', '1.5', ' 1', '', 'x', '18446744073709551615', '9223372036854775807', '-9223372036854775808', true, null, [], {}]) {
    for (const field of fields) back(client, `${field} ${JSON.stringify(value)}`, { [field]: value });
  }
}
