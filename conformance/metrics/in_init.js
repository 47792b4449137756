// A value in init code.
import { Counter } from 'k6/metrics';
const counter = new Counter('my_counter');
counter.add(1);
export default function () {}
