// What invoke looks at first, and says.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  attempt('not connected', () => client.invoke('target.Echo/Say', {}));
  connect(client);
  attempt('no method', () => client.invoke());
  attempt('empty method', () => client.invoke('', {}));
  attempt('unknown method', () => client.invoke('target.Echo/Sing', {}));
  attempt('wrong case', () => client.invoke('target.echo/say', {}));
  attempt('no request', () => client.invoke('target.Echo/Say'));
  attempt('unknown param', () => client.invoke('target.Echo/Say', {}, { headers: {} }));
  attempt('param first', () => client.invoke('target.Echo/Say', undefined, { headers: {} }));
  attempt('method first', () => client.invoke('nothing', undefined, { headers: {} }));
  attempt('closed', () => {
    client.close();
    client.close();
    return client.invoke('target.Echo/Say', {});
  });
}
