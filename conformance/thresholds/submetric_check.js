// A part of checks by the check's name.
import { check } from 'k6';
export const options = { iterations: 2, thresholds: { 'checks{check:second only}': ['rate==0.5'], 'checks{kind:k}': ['rate>0.7'] } };
export default function () { check(1, { first: true, 'second only': () => __ITER === 1 }, { kind: 'k' }); }
