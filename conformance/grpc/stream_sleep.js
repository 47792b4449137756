// A handler that waits, and one that calls.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import http from 'k6/http';
import { sleep } from 'k6';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const stream = new grpc.Stream(client, 'target.Flow/Count');
  const seen = [];
  stream.on('data', ({ value }) => {
    sleep(0.01);
    const status = http.get(`${__ENV.BASE_URL}/status/20${value}`).status;
    const said = client.invoke('target.Echo/Say', { text: value }).message.text;
    seen.push([value, status, said]);
  });
  stream.on('end', () => show('seen', seen));
  stream.write({ from: 1, to: 3 });
  stream.end();
}
