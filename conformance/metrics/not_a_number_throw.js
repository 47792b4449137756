// NaN with throw: an exception.
import { Counter } from 'k6/metrics';
import { check } from 'k6';
const counter = new Counter('my_counter');
export const options = { throw: true };
export default function () { counter.add(NaN); check(1, { 'not reached': true }); }
