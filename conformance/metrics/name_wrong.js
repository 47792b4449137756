// A name with a dash.
import { Counter } from 'k6/metrics';
new Counter('my-counter');
export default function () {}
