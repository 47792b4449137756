// A VU keeps its state over iterations.
import { check } from 'k6';
let n = 0;
export const options = { iterations: 3 };
export default function () { n += 1; check(n, { [`n ${n}`]: true }); }
