// NaN is refused and the iteration goes on.
import { check } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend');
export default function () {
  check(1, { counter: !counter.add(NaN), gauge: !gauge.add('x'), rate: !rate.add(NaN), trend: !trend.add(undefined) });
}
