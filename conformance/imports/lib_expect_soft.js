// A failed soft assertion of such a library fails the test at its end.
// imports
import { check } from 'k6';
import { expect } from '{MODULES}/lib/expect.js';
export default function () {
  expect.soft(1).toBe(2);
  check(1, { [expect.failures.join()]: true });
}
