// The system tags vu and iter in setup() and teardown().
// out: json csv
// flags: --system-tags scenario,group,vu,iter
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const hits = new Counter('hits');
export function setup() { hits.add(1); exec.vu.metrics.metadata.own = 'x'; hits.add(2); }
export default function () { hits.add(4); }
export function teardown() { hits.add(8); }
