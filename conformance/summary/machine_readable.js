// The newer JSON summary.
// flags: --new-machine-readable-summary
import { check, group } from 'k6';
import { Counter, Gauge } from 'k6/metrics';
const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
export default function () { counter.add(1); gauge.add(2); group('g', () => check(1, { one: true })); }
