// A check that throws has failed and ends the iteration.
import { check } from 'k6';
export const options = { iterations: 2 };
export default function () {
  check(1, { before: true, thrower: () => { throw new Error('no'); }, after: true });
  check(1, { 'not reached': true });
}
