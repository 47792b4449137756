// fail() ends the iteration.
import { check, fail } from 'k6';
export const options = { iterations: 2 };
export default function () { check(1, { before: true }); fail('enough'); check(1, { after: true }); }
