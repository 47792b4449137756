// Own metrics of all types.
// out: json csv
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend');
const time = new Trend('my_time', true);
export const options = { iterations: 3 };
export default function () {
  counter.add(2); gauge.add(10 - __ITER); rate.add(__ITER % 2); trend.add(__ITER + 0.5); time.add(100 * __ITER, { step: 'x' });
}
export function handleSummary(data) { return { 'data.json': JSON.stringify(data) }; }
