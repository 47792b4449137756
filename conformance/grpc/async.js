// Calls that overlap.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default async function () {
  connect(client);
  const all = await Promise.all([...Array(20).keys()].map((n) => client.asyncInvoke('target.Echo/Say', { text: `${n}` })));
  show('all', all.map((res) => res.message.text));
  const failed = await client.asyncInvoke('target.Echo/Fail', { code: 5, message: 'x' });
  show('failed', plain(failed));
  for (const call of [() => client.asyncInvoke('nothing', {}), () => client.asyncInvoke('target.Echo/Say', { x: 1 }), () => client.asyncInvoke('target.Echo/Say', {}, { x: 1 })]) {
    try {
      const promise = call();
      show('promise', promise instanceof Promise);
      await promise;
    } catch (e) {
      show('rejected', String(e).replace('GoError: ', ''));
    }
  }
  client.asyncInvoke('target.Echo/Wait', { milliseconds: 50 }).then((res) => show('not awaited', res.message));
}
