// Floating-point numbers with all their oddities.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  connect(client);
  for (const value of [0.1, -0, 1e-7, 1.17549435e-38, 3.4028235e38, 3.5e38, 1e300, 5e-324, NaN, Infinity, -Infinity, 'NaN', 'Infinity', '-Infinity', 'nan', '1e400', '0x10', 16777217]) {
    back(client, `double ${value}`, { aDouble: value });
    back(client, `float ${value}`, { aFloat: value });
  }
  back(client, 'list', { unpacked: [NaN, 1, Infinity, -0.5] });
}
