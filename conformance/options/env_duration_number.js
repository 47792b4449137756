// A number in a variable is milliseconds.
// env: K6_DURATION=1000
import { sleep } from 'k6';
export default function () { sleep(0.65); }
