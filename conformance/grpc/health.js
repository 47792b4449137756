// Health checks.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = new grpc.Client();

export default function () {
  connect(client);
  const health = (service) => Number(client.healthCheck(service).status);
  attempt('server', () => health());
  attempt('serving', () => health('target.Echo'));
  attempt('not serving', () => health('target.Flow'));
  attempt('unknown', () => health('nobody'));
  show('constants', ['HealthCheckUnknown', 'HealthCheckServing', 'HealthCheckNotServing', 'HealthCheckServiceUnkown'].map((name) => Number(grpc[name])));
  show('equal', client.healthCheck('').status === grpc.HealthCheckServing);
}
