// Test data that all VUs share: it is read and parsed once, and a VU gets a
// copy of an element only when it asks for one.
//
//   onrush run examples/shared-array.js
//
// BASE_URL   the system under test (default http://127.0.0.1:8080)
import http from 'k6/http';
import { check } from 'k6';
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';

const users = new SharedArray('users', () => JSON.parse(open('./data/users.json')));

export const options = {
  scenarios: {
    // As many iterations as there are users, spread over ten VUs.
    everyone: { executor: 'shared-iterations', vus: 10, iterations: users.length, maxDuration: '1m' },
  },
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  // Every iteration takes another user, whichever VU runs it.
  const user = users[exec.scenario.iterationInTest];
  // Name and password in the address are sent as basic authentication.
  const url = `${BASE_URL}/basic-auth/${user.name}/${user.password}`;
  const res = http.get(url.replace('://', `://${user.name}:${user.password}@`), { tags: { name: 'sign in' } });
  check(res, {
    'signed in': (r) => r.status === 200,
    'as the right user': (r) => r.json('user') === user.name,
  });
}
