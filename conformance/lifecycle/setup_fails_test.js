// setup() that marks the test as failed.
import exec from 'k6/execution';
import { check } from 'k6';
export function setup() { exec.test.fail('no'); }
export default function () { check(1, { reached: true }); }
