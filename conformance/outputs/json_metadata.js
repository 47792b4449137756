// Metadata of VUs in json and csv, beside tags.
// out: json csv
// flags: --system-tags scenario,vu,iter --tag 'a b=c d'
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const hits = new Counter('hits');
export const options = { iterations: 2 };
export default function () {
  hits.add(1, { kind: 'x=1' });
  exec.vu.metrics.metadata.trace = 'a b';
  exec.vu.metrics.tags.mine = 'é<>';
  hits.add(2);
}
