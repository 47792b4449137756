// Stages in a variable.
// env: K6_STAGES=0s:2,1s:2
import { sleep } from 'k6';
export default function () { sleep(0.65); }
