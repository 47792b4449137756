// One request and, unless the body is discarded, one look at all of it.
//
// URL             what to request
// RESPONSE_TYPE   none, text or binary
import http from 'k6/http';
import { check } from 'k6';

const params = { responseType: __ENV.RESPONSE_TYPE };

export default function () {
  const res = http.get(__ENV.URL, params);
  check(res, {
    'status is 200': (r) => r.status === 200,
    'body is there': (r) => r.body === null || (r.body.length ?? r.body.byteLength) > 0,
  });
}
