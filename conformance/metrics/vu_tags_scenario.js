// Overwriting a system tag of the VU.
// out: json
import { Counter } from 'k6/metrics';
import exec from 'k6/execution';
const counter = new Counter('my_counter');
export default function () { exec.vu.metrics.tags.group = '::mine'; exec.vu.metrics.tags.scenario = 'other'; counter.add(1); }
