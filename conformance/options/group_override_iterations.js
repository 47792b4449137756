// A duration of a higher tier drops the iterations of a lower one.
// flags: --duration 1s
import { sleep } from 'k6';
export const options = { iterations: 1, vus: 2 };
export default function () { sleep(0.65); }
