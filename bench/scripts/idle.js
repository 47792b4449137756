// The minimal script, asleep: one request, one check, and then nothing. What a
// process with many of these VUs occupies is what a VU costs.
//
// BASE_URL   the built-in target
// SLEEP      seconds to sleep
import http from 'k6/http';
import { check, sleep } from 'k6';

const URL = `${__ENV.BASE_URL || 'http://127.0.0.1:8080'}/f/100`;
const SLEEP = Number(__ENV.SLEEP || 600);

export default function () {
  const res = http.get(URL);
  check(res, { 'status is 200': (r) => r.status === 200 });
  sleep(SLEEP);
}
