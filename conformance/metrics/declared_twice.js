// The same metric twice is one metric.
import { Counter } from 'k6/metrics';
const a = new Counter('my_counter');
const b = new Counter('my_counter');
export default function () { a.add(1); b.add(2); }
