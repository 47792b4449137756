// A part by group: the value begins with colons.
import { group, check } from 'k6';
export const options = { thresholds: { 'checks{group:::a}': ['rate==1'], 'checks{group:::a::b}': ['rate==0'], 'checks{group:}': ['rate==1'] } };
export default function () {
  check(1, { top: true });
  group('a', () => { check(1, { one: true }); group('b', () => check(1, { two: false })); });
}
