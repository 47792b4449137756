// fail() lets the test go on and marks it.
import exec from 'k6/execution';
import { check } from 'k6';
export const options = { iterations: 3 };
export default function () { exec.test.fail(); check(1, { after: true }); }
