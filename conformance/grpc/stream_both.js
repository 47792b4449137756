// Messages both ways.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const stream = new grpc.Stream(client, 'target.Flow/Mirror');
  const seen = [];
  stream.on('data', ({ text }) => {
    seen.push(text);
    if (text.length < 5) stream.write({ text: `${text}x` });
    else stream.end();
  });
  stream.on('end', () => show('seen', seen));
  stream.write({ text: '' });
}
