// Tags with separators in csv.
// out: csv
import { Counter } from 'k6/metrics';
const counter = new Counter('my_counter');
export default function () { counter.add(1, { amp: 'a&b', equals: 'a=b' }); }
