// Messages in an Any.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  back(client, 'note', { packedAny: { '@type': 'type.googleapis.com/target.Note', note: 'a', big: 5 } });
  back(client, 'type last', { packedAny: { note: 'a', '@type': 'type.googleapis.com/target.Note' } });
  back(client, 'other host', { packedAny: { '@type': 'example.test/target.Note', note: 'a' } });
  back(client, 'timestamp', { packedAny: { '@type': 'type.googleapis.com/google.protobuf.Timestamp', value: '2020-01-01T00:00:00Z' } });
  back(client, 'any in any', { packedAny: { '@type': 'type.googleapis.com/target.Everything', packedAny: { '@type': 'type.googleapis.com/target.Phrase', text: 'x' } } });
  back(client, 'empty', { packedAny: {} });
  back(client, 'no type', { packedAny: { note: 'a' } });
  back(client, 'unknown type', { packedAny: { '@type': 'type.googleapis.com/target.Stranger' } });
  back(client, 'unknown field', { packedAny: { '@type': 'type.googleapis.com/target.Note', nope: 1 } });
  back(client, 'a number', { packedAny: { '@type': 1 } });
  back(client, 'list', { anys: [{ '@type': 'type.googleapis.com/target.Note', note: 'a' }, { '@type': 'type.googleapis.com/target.Phrase', text: 'b' }] });
}
