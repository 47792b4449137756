// Open model: iterations start when the schedule says, however slowly the
// system under test answers. Two scenarios run one after the other.
//
//   onrush run examples/arrival.js
//
// If no VU is free when an iteration is due, it is dropped, and the metric
// dropped_iterations says so: here that fails the run.
//
// BASE_URL   the system under test (default http://127.0.0.1:8080)
import http from 'k6/http';
import { check } from 'k6';
import exec from 'k6/execution';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export const options = {
  scenarios: {
    steady: {
      executor: 'constant-arrival-rate',
      exec: 'page',
      rate: 500,
      timeUnit: '1s',
      duration: '10s',
      preAllocatedVUs: 20,
      maxVUs: 100,
    },
    growing: {
      executor: 'ramping-arrival-rate',
      exec: 'api',
      startTime: '10s',
      startRate: 100,
      timeUnit: '1s',
      stages: [
        { duration: '5s', target: 1000 },
        { duration: '5s', target: 1000 },
      ],
      preAllocatedVUs: 50,
      maxVUs: 200,
      tags: { part: 'api' },
    },
  },
  thresholds: {
    'http_req_duration{scenario:steady}': ['p(99)<200'],
    'http_req_duration{part:api}': ['p(99)<300'],
    dropped_iterations: ['count<10'],
  },
};

export function page() {
  const res = http.get(`${BASE_URL}/news.php`);
  check(res, { 'page is 200': (r) => r.status === 200 });
}

export function api() {
  // A number no other iteration of this scenario has, on any machine.
  const id = exec.scenario.iterationInTest;
  const res = http.get(`${BASE_URL}/get?id=${id}`, { tags: { name: `${BASE_URL}/get?id=*` } });
  check(res, { 'id came back': (r) => r.json('args.id') === String(id) });
}
