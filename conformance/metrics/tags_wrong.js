// Tags that are objects are refused.
import { Counter } from 'k6/metrics';
const counter = new Counter('my_counter');
export default function () { counter.add(1, { a: { b: 1 } }); counter.add(1, { a: [1] }); counter.add(1); }
