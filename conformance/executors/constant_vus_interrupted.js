// constant-vus without a graceful stop.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 3, duration: '1s', gracefulStop: '0s' } } };
export default function () { sleep(0.65); }
