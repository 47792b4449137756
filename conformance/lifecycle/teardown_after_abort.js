// teardown() runs after an abort.
// varies: iterations
import exec from 'k6/execution';
import { check } from 'k6';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 5 } } };
export default function () { if (__VU === 1) exec.test.abort(); }
export function teardown() { check(1, { teardown: true }); }
