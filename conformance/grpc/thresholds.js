// Thresholds on the module's metrics.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

export const options = {
  thresholds: {
    grpc_req_duration: ['p(95)<60000'],
    'grpc_req_duration{method:Say}': ['max<60000'],
    'grpc_req_duration{status:5}': ['min>=0'],
    grpc_streams: ['count==0'],
  },
};

const client = loaded();

export default function () {
  connect(client);
  client.invoke('target.Echo/Say', { text: 'a' });
  client.invoke('target.Echo/Say', { text: 'b' });
  client.invoke('target.Echo/Fail', { code: 5 });
}
