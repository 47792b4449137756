// Timestamps, durations and field masks.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  for (const at of ['1970-01-01T00:00:00Z', '2020-02-29T12:34:56.789Z', '2020-01-01T01:00:00+01:00', '2020-01-01T00:00:00.000000001Z', '2020-01-01T00:00:00.1234Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z', '2020-01-01', '2020-01-01 00:00:00Z', '2021-02-29T00:00:00Z', '', 0, null, {}]) {
    back(client, `at ${JSON.stringify(at)}`, { at });
  }
  for (const took of ['0s', '1.5s', '-1.5s', '0.000001s', '-0.5s', '315576000000s', '315576000001s', '1', '1m', 's', '.5s', '1.0000000001s', 1, null]) {
    back(client, `took ${JSON.stringify(took)}`, { took });
  }
  for (const mask of ['', 'a', 'aString,nested.name', 'a_string', 'nested.inner.name', ',', 1, null]) {
    back(client, `mask ${JSON.stringify(mask)}`, { mask });
  }
  back(client, 'times', { times: ['2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z'] });
}
