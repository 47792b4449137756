// Members of a oneof, and optional fields.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  const all = (fields) => attempt(JSON.stringify(fields), () => {
    const message = client.invoke('target.Echo/All', fields).message;
    return ['chosenText', 'chosenNumber', 'chosenMessage', 'chosenNull', 'maybeText', 'maybeNumber'].filter((key) => key in message).map((key) => [key, message[key]]);
  });
  all({});
  all({ chosenText: '' });
  all({ chosenNumber: 0 });
  all({ chosenMessage: {} });
  all({ chosenNull: null });
  all({ chosenText: null });
  all({ chosenText: 'a', chosenNumber: 1 });
  all({ chosenText: null, chosenNumber: 1 });
  all({ maybeText: '', maybeNumber: 0 });
  all({ maybeText: null });
}
