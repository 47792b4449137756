// VUs of a segment, all cut at the end.
// flags: --execution-segment 1/3:1
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 7, duration: '1s', gracefulStop: '0s' } } };
export default function () { sleep(10); }
