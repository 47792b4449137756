// One request, and then its connection is held open.
//
// URL     what to request
// SLEEP   seconds to hold the connection
import http from 'k6/http';
import { check, sleep } from 'k6';

const SLEEP = Number(__ENV.SLEEP || 600);

export default function () {
  const res = http.get(__ENV.URL);
  check(res, { 'status is 200': (r) => r.status === 200 });
  sleep(SLEEP);
}
