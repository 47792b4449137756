// Tags with commas, quotes, lines and other scripts.
// out: json
import { Counter } from 'k6/metrics';
const counter = new Counter('my_counter');
export default function () { counter.add(1, { comma: 'a,b', quote: '"q"', line: 'a\nb', html: '<a&b>', other: 'größe ✓' }); }
