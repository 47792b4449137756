// check() without an object of checks.
import { check } from 'k6';

const tried = (...sets) => {
  try {
    return String(check(1, ...sets));
  } catch (e) {
    return String(e);
  }
};
export default function () {
  const seen = [tried(), tried(null), tried(undefined), tried([]), tried(['x'])];
  check(1, { [seen.join()]: true });
}
