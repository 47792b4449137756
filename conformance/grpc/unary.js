// A call: the parts of its response.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  show('connect', connect(client));
  const res = client.invoke('target.Echo/Say', { text: 'hello' });
  show('response', plain(res));
  show('keys', Object.keys(res).sort());
  show('equals', [res.status === grpc.StatusOK, res.status == 0, res.status == grpc.StatusOK, res.error === null]);
  show('slash', plain(client.invoke('/target.Echo/Say', { text: 'again' })).message);
  client.close();
}
