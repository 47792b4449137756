// Groups in groups, some with one name.
import { check, group } from 'k6';
export default function () {
  group('a', () => {
    group('b', () => group('c', () => check(1, { deep: true })));
    group('a', () => check(1, { 'a in a': true }));
  });
  group('b', () => check(1, { 'another b': true }));
}
