// A group without a name.
import { check, group } from 'k6';
export default function () { group('', () => check(1, { inside: true })); }
