// Streams whose client is closed: the events, and a duration each.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { setTimeout } from 'k6/timers';
import { connect, loaded, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const open = (name, method, message) => {
    const stream = new grpc.Stream(client, method);
    const seen = [];
    stream.on('data', (data) => seen.push(data));
    stream.on('error', (e) => seen.push({ code: Number(e.code), message: e.message, details: e.details, text: e.error() }));
    stream.on('end', () => show(name, seen));
    stream.write(message);
    return stream;
  };
  open('from the server', 'target.Flow/Count', { from: 1, to: 9, pauseMs: 5000 });
  open('from the server again', 'target.Flow/Count', { from: 1, to: 9, pauseMs: 5000 });
  open('from the client', 'target.Flow/Sum', { value: 1 });
  const both = open('both ways', 'target.Flow/Mirror', { text: 'x' });
  const ended = open('ended', 'target.Flow/Mirror', { text: 'x' });
  ended.end();
  setTimeout(() => {
    client.close();
    both.write({ text: 'y' });
    both.end();
  }, 500);
}
