// Enums by name and number.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  for (const value of ['RED', 'GREEN', 'red', 'COLOR_UNSPECIFIED', 'BLUE', '1', 1, 2, 77, -1, 1.5, 4294967296, null, true]) {
    back(client, JSON.stringify(value), { aColor: value });
  }
  back(client, 'list', { colors: ['RED', 2, 'COLOR_UNSPECIFIED', 9] });
}
