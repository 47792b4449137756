// All metrics without new.
import { check } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const all = [Counter('my_counter'), Gauge('my_gauge'), Rate('my_rate'), Trend('my_trend', true)];
export default function () { for (const metric of all) metric.add(1); check(1, { [all.map((metric) => metric.name).join()]: true }); }
