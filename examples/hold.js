// Holds a connection open for each VU. See docs/guide/many-connections.md.
//
// BASE_URL   the system under test (no default)
import http from 'k6/http';
import { sleep } from 'k6';

export const options = {
  scenarios: {
    hold: { executor: 'per-vu-iterations', vus: 60000, iterations: 2, maxDuration: '5m' },
  },
  discardResponseBodies: true,
};

export default function () {
  http.get(`${__ENV.BASE_URL}/`);
  sleep(30); // the connection stays open and idle
}
