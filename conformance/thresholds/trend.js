// All aggregations of a trend.
import { Trend } from 'k6/metrics';
const size = new Trend('size');
export const options = {
  iterations: 5,
  thresholds: { size: ['avg==20', 'min==0', 'max==40', 'med==20', 'p(50)==20', 'p(90)==36', 'p(95)<38', 'p(99.9)<40', 'p(0)==0', 'p(100)==40'] },
};
export default function () { size.add(__ITER * 10); }
