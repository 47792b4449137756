// Answers that are no messages.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  for (const octets of ['', 'CQ==', '/w==', 'cgL/', 'cgH/', 'Ag==', 'iAEB', 'igEFCgNhYmM=', 'YAE=', 'gAEF', 'oAEBoAEC', '2gEB', 'ygIA']) {
    const res = client.invoke('target.Echo/Raw', { octets });
    show(octets, [Number(res.status), res.error, res.message.aString, res.message.aColor, res.message.nested]);
  }
}
