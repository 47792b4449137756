// No iteration has finished.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', maxDuration: '1s', gracefulStop: '0s' } } };
export default function () { sleep(20); }
