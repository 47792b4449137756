// Bodies are discarded, unless a request wants its.
import http from 'k6/http';
import { check } from 'k6';
export const options = { discardResponseBodies: true };
const url = `${__ENV.BASE_URL}/f/10`;
export default function () {
  check(http.get(url), { discarded: (r) => r.body === null });
  check(http.get(url, { responseType: 'text' }), { text: (r) => r.body.length === 10 });
  check(http.get(url, { responseType: 'binary' }), { binary: (r) => r.body.byteLength === 10 });
}
