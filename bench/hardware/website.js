// A visitor: a page with its parts, a pause, another page, a pause. As in k6's benchmark of large tests, most of the time
// is spent waiting.
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = { discardResponseBodies: true };

export default function () {
  const page = http.get(`${__ENV.TARGET}/`);
  check(page, { 'the page is there': (r) => r.status === 200 });
  http.batch([`${__ENV.TARGET}/bytes/2000`, `${__ENV.TARGET}/bytes/10000`]);
  sleep(5);
  http.get(`${__ENV.TARGET}/json`);
  sleep(5);
}
