// A function replaced in a built-in module is replaced for all who import it, by whatever way.
// files: patches.js
import { check } from 'k6';
import http, { get, post } from 'k6/http';
import * as ns from 'k6/http';
import patches from './patches.js';
const before = `${http.get('a')} ${get('b')} ${ns.get('c')} ${http.post()} ${post()} ${ns.post()} ${patches.http === http}`;
export default function () {
  check(1, { [before]: true });
  http.put = () => `put ${__ITER}`;
  check(1, { [ns.put()]: true });
}
