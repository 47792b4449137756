// Compressed answers.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const res = client.invoke('target.Echo/Say', { text: 'x'.repeat(1000) }, { metadata: { 'use-gzip': '1' } });
  show('gzip', [Number(res.status), res.error, res.message.text.length, res.headers]);
}
