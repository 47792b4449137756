// What counts as a value: numbers in texts, booleans, nothing.
import { Counter, Rate } from 'k6/metrics';
const counter = new Counter('my_counter');
const rate = new Rate('my_rate');
export default function () {
  counter.add('5'); counter.add(true); counter.add(1.5);
  rate.add(true); rate.add(false); rate.add(2); rate.add(0); rate.add('1');
}
