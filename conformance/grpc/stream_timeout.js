// Streams that their own timeout ends: the event, and no duration. A server that says the same before that.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { connect, loaded, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const open = (name, method, message, ends, timeout) => {
    const stream = new grpc.Stream(client, method, timeout ? { timeout } : {});
    const seen = [];
    stream.on('data', (data) => seen.push(data));
    stream.on('error', (e) => seen.push({ code: Number(e.code), message: e.message, details: e.details, text: e.error() }));
    stream.on('end', () => show(name, seen));
    stream.write(message);
    if (ends) stream.end();
  };
  open('from the server', 'target.Flow/Count', { from: 1, to: 9, pauseMs: 5000 }, false, 300);
  open('from the server, ended', 'target.Flow/Count', { from: 1, to: 9, pauseMs: 5000 }, true, 300);
  open('both ways', 'target.Flow/Mirror', { text: 'x' }, false, 300);
  open('both ways, ended', 'target.Flow/Mirror', { text: 'x' }, true, 5000);
  open('from the client', 'target.Flow/Sum', { value: 1 }, false, 300);
  open('the server is late itself', 'target.Flow/Count', { from: 1, to: 1, code: 4 }, true);
  open('the server cancels', 'target.Flow/Count', { from: 1, to: 1, code: 1 }, true);
}
