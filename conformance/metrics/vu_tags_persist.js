// Tags of a VU last over its iterations.
// out: json
import { Counter } from 'k6/metrics';
import exec from 'k6/execution';
const counter = new Counter('my_counter');
export const options = { iterations: 3 };
export default function () { if (__ITER === 1) exec.vu.metrics.tags.from = 'one'; counter.add(1); }
