// Tags and metadata of a VU.
// out: json csv
import { Counter } from 'k6/metrics';
import exec from 'k6/execution';
const counter = new Counter('my_counter');
export default function () {
  counter.add(1);
  exec.vu.metrics.tags.shop = 'berlin';
  exec.vu.metrics.metadata.trace = 'abc';
  counter.add(1);
  counter.add(1, { shop: 'own' });
  delete exec.vu.metrics.tags.shop;
  counter.add(1);
}
