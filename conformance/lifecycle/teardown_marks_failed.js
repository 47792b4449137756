// fail() in teardown().
import exec from 'k6/execution';
export function teardown() { exec.test.fail('late'); }
export default function () {}
