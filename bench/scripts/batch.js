// Ten requests at once, six of them at a time on one host, which is the default.
//
// URL   what to request
import http from 'k6/http';
import { check } from 'k6';

const requests = Array(10).fill(['GET', __ENV.URL]);

export default function () {
  const responses = http.batch(requests);
  check(responses, { 'all are 200': (all) => all.every((res) => res.status === 200) });
}
