// A metric knows its name.
import { Counter } from 'k6/metrics';
import { check } from 'k6';
const counter = new Counter('my_counter');
export default function () { check(counter.name, { [`name ${counter.name}`]: true }); }
