// Files that are looked for from the root of the file system.
import grpc from 'k6/net/grpc';
import { check } from 'k6';

const client = new grpc.Client();
const texts = [];
for (const file of ['/nowhere/a.proto', '/nowhere.proto', '']) {
  try {
    client.load([], file);
    texts.push('loaded');
  } catch (e) {
    // What is before it is the folder of the script.
    texts.push(e.message.replace(/stat .*?(\/nowhere)/, 'stat FOLDER$1'));
  }
}
export default function () {
  for (const text of texts) check(1, { [text]: true });
}
