// Tags of checks.
// out: json csv
import { check } from 'k6';
export default function () { check(1, { one: true, two: false }, { kind: 'k', check: 'mine' }); }
