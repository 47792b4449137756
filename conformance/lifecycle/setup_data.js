// Data of setup() reach each VU as a copy of its own, once.
import { check } from 'k6';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };
export function setup() { return { n: 1, inner: { text: 'a' } }; }
export default function (data) {
  check(1, { [`n ${data.n} ${data.inner.text}`]: true });
  data.n += 1;
  data.inner.text += 'b';
}
export function teardown(data) { check(data, { [`teardown ${data.n}`]: true }); }
