// Negative values.
import { Counter, Gauge, Trend } from 'k6/metrics';
const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const trend = new Trend('my_trend');
export default function () { counter.add(5); counter.add(-2); gauge.add(-4); trend.add(-10); trend.add(10); }
