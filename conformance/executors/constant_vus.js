// constant-vus: iterations that run at the end finish.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 3, duration: '1s' } } };
export default function () { sleep(0.65); }
