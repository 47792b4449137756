// A fast VU does more of the shared iterations.
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
import exec from 'k6/execution';
const fast = new Counter('fast_iterations');
const slow = new Counter('slow_iterations');
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 2, iterations: 10 } } };
export default function () {
  if (exec.vu.idInTest === 1) { sleep(1); slow.add(1); } else { sleep(0.03); fast.add(1); }
}
