// Calls that end with each status.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  for (let code = 0; code <= 18; code++) {
    const res = client.invoke('target.Echo/Fail', { code, message: `code ${code}` });
    const same = Object.entries(grpc).filter(([name, value]) => name.startsWith('Status') && value == Number(res.status)).map(([name]) => name);
    show(`${code}`, { ...plain(res), same });
  }
}
