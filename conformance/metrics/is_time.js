// Counters and gauges of time.
import { Counter, Gauge, Rate } from 'k6/metrics';
const counter = new Counter('my_counter', true);
const gauge = new Gauge('my_gauge', true);
const rate = new Rate('my_rate', true);
export default function () { counter.add(5); gauge.add(7); rate.add(1); }
export function handleSummary(data) { return { 'data.json': JSON.stringify(data) }; }
