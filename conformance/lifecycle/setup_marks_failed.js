// fail() in setup(): the test runs all the same.
import exec from 'k6/execution';
export function setup() { exec.test.fail('early'); }
export default function () {}
