// What the parameters of a request and a check cost beside the request.
//
// URL    what to request
// KIND   plain: nothing but the request; check: and one check; params: two headers, a tag and a check
import http from 'k6/http';
import { check } from 'k6';

const URL = __ENV.URL;

const kinds = {
  plain() {
    http.get(URL);
  },
  check() {
    check(http.get(URL), { 'status is 200': (r) => r.status === 200 });
  },
  params() {
    const res = http.get(URL, { headers: { 'X-One': '1', accept: 'text/plain' }, tags: { kind: 'tagged' } });
    check(res, { 'status is 200': (r) => r.status === 200 });
  },
};

export default kinds[__ENV.KIND || 'plain'];
