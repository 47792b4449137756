// What check() returns.
import { check } from 'k6';
export default function () {
  const all = check(1, { a: true, b: true });
  const some = check(1, { c: true, d: false });
  const none = check(1, {});
  check(1, { [`all ${all}`]: true, [`some ${some}`]: true, [`none ${none}`]: true });
}
