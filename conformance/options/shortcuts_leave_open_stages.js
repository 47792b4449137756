// The same for stages.
// flags: --stage 1s:1
import { check, sleep } from 'k6';
import exec from 'k6/execution';
export default function () { check(1, { [JSON.stringify(exec.test.options.scenarios)]: true }); sleep(2); }
