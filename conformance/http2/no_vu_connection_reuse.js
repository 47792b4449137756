// noVUConnectionReuse: a connection for each iteration.
import http from 'k6/http';
import { Counter } from 'k6/metrics';
const dialled = new Counter('dialled');
export const options = { noVUConnectionReuse: true, iterations: 3 };
export default function () {
  for (let i = 0; i < 2; i += 1) if (http.get(`${__ENV.HTTPS_URL}/f/1`).timings.connecting > 0) dialled.add(1);
}
