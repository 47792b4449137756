// A metric without new.
import { Counter } from 'k6/metrics';
const counter = Counter('my_counter');
export default function () {}
