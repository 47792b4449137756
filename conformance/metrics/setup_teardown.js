// Values of setup and teardown.
// out: json
import { Counter } from 'k6/metrics';
const counter = new Counter('my_counter');
export function setup() { counter.add(1); }
export default function () { counter.add(10); }
export function teardown() { counter.add(100); }
