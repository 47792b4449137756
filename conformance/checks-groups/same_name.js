// The same check in different groups counts for each of them.
import { check, group } from 'k6';
export const options = { iterations: 2 };
export default function () {
  check(1, { ok: true });
  group('a', () => check(1, { ok: false }));
  group('b', () => { check(1, { ok: true }); check(1, { ok: true }); });
}
