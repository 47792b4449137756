// A protoset instead of files.
// files: grpc_lab.js target.binpb
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = new grpc.Client();
const methods = client.loadProtoset('target.binpb');
const texts = [];
try {
  client.loadProtoset('missing.binpb');
} catch (e) {
  texts.push(String(e).replace(/ \/.*missing/, ' missing'));
}

export default function () {
  show('methods', methods.length);
  show('missing', texts);
  connect(client);
  show('call', client.invoke('target.Echo/Say', { text: 'hi' }).message);
}
