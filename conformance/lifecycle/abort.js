// abort() ends the test.
import exec from 'k6/execution';
import { check } from 'k6';
export const options = { iterations: 5 };
export default function () { check(1, { before: true }); if (exec.scenario.iterationInTest === 2) exec.test.abort('enough'); check(1, { after: true }); }
