// Who aborts is interrupted as those who are cut, but has samples.
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 3, iterations: 4 } } };
export default function () { if (exec.vu.idInTest === 1) { sleep(0.3); exec.test.abort('enough'); } sleep(5); }
