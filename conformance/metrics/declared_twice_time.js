// The same name, once as time.
import { Trend } from 'k6/metrics';
new Trend('my_metric');
new Trend('my_metric', true);
export default function () {}
