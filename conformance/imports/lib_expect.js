// A library in the shape of k6-testing: hard and soft assertions that find their line in a stack.
// imports
import { check } from 'k6';
import { expect, Place } from '{MODULES}/lib/expect.js';
function inner() { return Place.here(); }
export default function () {
  expect(1 + 1).toBe(2);
  expect([1, { a: 2 }]).toEqual([1, { a: 2 }]);
  expect(0.1 + 0.2).toBeCloseTo(0.3);
  expect('abc').toContain('b');
  expect([1]).not.toHaveLength(2);
  expect(new RangeError('x')).toBeInstanceOf(Error);
  const place = inner();
  check(1, { [`${place.file}:${place.line}`]: true });
}
