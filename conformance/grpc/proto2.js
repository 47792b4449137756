// A message of proto2: required fields, defaults, groups, extensions.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const old = (fields) => attempt(JSON.stringify(fields), () => {
    const res = client.invoke('target.Echo/Old', fields);
    return [Number(res.status), res.message];
  });
  old({ name: 'a' });
  old({ name: 'a', count: 0, mood: 'ANGRY', loose: [1, 2], flag: false });
  old({ name: 'a', box: { label: 'b' } });
  old({ name: 'a', '[target.remark]': 'c' });
  old({ name: 'a', mood: 9 });
  old({});
}
