// --stage, several times.
// flags: --stage 0s:3 --stage 1s:3
import { sleep } from 'k6';
export default function () { sleep(0.65); }
