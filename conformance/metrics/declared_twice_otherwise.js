// The same name for another type.
import { Counter, Rate } from 'k6/metrics';
new Counter('my_metric');
new Rate('my_metric');
export default function () {}
