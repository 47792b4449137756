// --stage with commas.
// flags: -s 0s:2,1s:2
import { sleep } from 'k6';
export default function () { sleep(0.65); }
