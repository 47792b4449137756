// Names of fields: as in JSON, as in the file, and others.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const renamed = (fields) => attempt(JSON.stringify(fields), () => client.invoke('target.Echo/All', fields).message.otherName);
  renamed({ otherName: 'a' });
  renamed({ renamed: 'b' });
  renamed({ other_name: 'c' });
  renamed({ otherName: 'a', renamed: 'b' });
  const number = (fields) => attempt(JSON.stringify(fields), () => client.invoke('target.Echo/All', fields).message.anInt32);
  number({ anInt32: 1 });
  number({ an_int32: 2 });
  number({ AnInt32: 3 });
  number({ an_int32: 2, anInt32: 1 });
  attempt('nested', () => client.invoke('target.Echo/All', { nested: { name: 'a', inner: { nome: 1 } } }).message);
}
