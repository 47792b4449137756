// Requests of one kind, for `run`, which counts the allocations of each:
//   cargo run -p onrush-testsite --example serve 8080
//   BASE_URL=http://127.0.0.1:8080 KIND=params cargo run -p onrush-engine --example run crates/engine/examples/requests.js
import http from 'k6/http';
import { check } from 'k6';

const REQUESTS = 10000;

export const options = { scenarios: { all: { executor: 'shared-iterations', vus: 1, iterations: 1 } } };

const url = `${__ENV.BASE_URL}/`;

const kinds = {
  plain() {
    http.get(url);
  },
  headers() {
    http.get(url, { headers: { 'X-One': '1', accept: 'text/plain' } });
  },
  tags() {
    http.get(url, { tags: { kind: 'tagged' } });
  },
  params() {
    const res = http.get(url, { headers: { 'X-One': '1', accept: 'text/plain' }, tags: { kind: 'tagged' } });
    check(res, { 'status is 200': (r) => r.status === 200 });
  },
};

export default function () {
  const send = kinds[__ENV.KIND || 'plain'];
  for (let i = 0; i < REQUESTS; i++) send();
}
