// A library in the shape of the tempo instrumentation: it replaces functions of k6/http for all.
// imports
// out: json
import { check } from 'k6';
import { instrument } from '{MODULES}/lib/instrument.js';
import http, { post } from 'k6/http';
import * as all from 'k6/http';
instrument('X-Trace', 'abc');
export default function () {
  const trace = (response) => response.json().headers['X-Trace'];
  const base = __ENV.BASE_URL;
  check(1, {
    [`get ${trace(http.get(`${base}/get`))}`]: true,
    [`post ${trace(post(`${base}/post`, 'x'))}`]: true,
    [`namespace ${trace(all.put(`${base}/put`, 'x', { headers: { 'X-Own': '1' } }))}`]: true,
    [`request ${trace(http.request('GET', `${base}/get`))}`]: true,
  });
}
