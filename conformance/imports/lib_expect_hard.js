// A failed hard assertion of such a library ends the test.
// imports
import { expect } from '{MODULES}/lib/expect.js';
export default function () {
  expect('ok').toBe('not ok');
}
