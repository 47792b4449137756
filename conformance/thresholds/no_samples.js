// Metrics without samples at the end.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
new Counter('some_counter'); new Gauge('some_gauge'); new Rate('some_rate'); new Trend('some_trend');
export const options = {
  thresholds: {
    some_counter: ['count==0', 'count>0'], some_gauge: ['value==0', 'value>0'],
    some_rate: ['rate>0.9', 'rate<0.1'], some_trend: ['p(95)<500', 'avg>0', 'max==0'],
  },
};
export default function () {}
