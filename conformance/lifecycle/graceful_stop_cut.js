// What still runs at the end of the graceful stop is cut, and has no samples.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '300ms' } } };
export default function () { sleep(0.8); }
