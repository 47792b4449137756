// A metric declared in an iteration.
import { Counter } from 'k6/metrics';
import { check } from 'k6';
export default function () { new Counter('late_counter'); check(1, { 'not reached': true }); }
