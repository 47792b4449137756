// A gauge's last value.
import { Gauge } from 'k6/metrics';
const load = new Gauge('load_now');
export const options = { iterations: 3, thresholds: { load_now: ['value==2', 'value<2', 'value>=2'] } };
export default function () { load.add(5 - 3 * Math.min(1, __ITER)); }
