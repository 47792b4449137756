// abort() in teardown().
import exec from 'k6/execution';
export function teardown() { exec.test.abort('late'); }
export default function () {}
