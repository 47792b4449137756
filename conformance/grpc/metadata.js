// Metadata of requests, as the server gets it.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const sent = (metadata) => {
    const fields = client.invoke('target.Echo/Metadata', {}, { metadata }).message.fields;
    for (const name of ['user-agent', 'grpc-timeout', 'grpc-accept-encoding', ':authority']) delete fields[name];
    return fields;
  };
  attempt('plain', () => sent({ a: 'b', 'X-Upper': 'Case', empty: '' }));
  attempt('binary', () => sent({ 'data-bin': new Uint8Array([0, 255, 7]), 'empty-bin': new Uint8Array([]) }));
  attempt('reserved', () => sent({ 'grpc-status': '7', 'content-type': 'text/plain', te: 'x', 'user-agent': 'me' }));
  attempt('authorization', () => sent({ authorization: 'Bearer x' }));
}
