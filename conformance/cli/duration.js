// -d.
// flags: -d 1s -u 2
import { sleep } from 'k6';
export default function () { sleep(0.65); }
