// Tags of values: numbers and booleans become texts.
// out: json csv
import { Counter } from 'k6/metrics';
const counter = new Counter('my_counter');
export default function () {
  counter.add(1, { text: 'a', number: 5, bool: true, half: 0.5 });
  counter.add(1, null);
  counter.add(1, {});
  counter.add(1, { scenario: 'mine' });
}
