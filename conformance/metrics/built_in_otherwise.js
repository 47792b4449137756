// A built-in metric declared as another type.
import { Trend } from 'k6/metrics';
new Trend('http_reqs');
export default function () {}
