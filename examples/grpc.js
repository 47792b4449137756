// Calls over gRPC and a stream. The schema comes from the server, by reflection.
//
//   onrush target &
//   onrush run examples/grpc.js
//
// BASE_URL   the built-in target (default http://127.0.0.1:8080)
import grpc from 'k6/net/grpc';
import { check } from 'k6';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';
const plaintext = !BASE_URL.startsWith('https://');
const address = BASE_URL.replace(/^https?:\/\//, '').replace(/\/$/, '');

export const options = { vus: 5, iterations: 50, thresholds: { checks: ['rate==1'], grpc_req_duration: ['p(95)<500'] } };

const client = new grpc.Client();

export default function () {
  // One connection for all iterations of a VU. To read a schema from a file instead of `reflect`, call
  // client.load(null, 'file.proto') in init code.
  if (__ITER === 0) client.connect(address, { plaintext, reflect: true });

  const answer = client.invoke('target.Echo/Say', { text: 'hello' }, { timeout: '2s' });
  check(answer, {
    'status is OK': (r) => r.status === grpc.StatusOK,
    'the text came back': (r) => r.message.text === 'hello',
  });

  // A call with another status does not throw.
  const failed = client.invoke('target.Echo/Fail', { code: grpc.StatusNotFound });
  check(failed, { 'not found, as asked': (r) => r.status === grpc.StatusNotFound });

  // The server counts; 64-bit integers arrive as strings.
  const stream = new grpc.Stream(client, 'target.Flow/Count');
  const values = [];
  stream.on('data', (message) => values.push(message.value));
  stream.on('error', (error) => console.error(error.message));
  stream.on('end', () => check(values, { 'counted to three': (all) => all.join() === '1,2,3' }));
  stream.write({ from: 1, to: 3 });
  stream.end();
}
