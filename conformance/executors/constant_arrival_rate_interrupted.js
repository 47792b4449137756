// constant-arrival-rate: gracefulStop cuts iterations that take longer.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 2, duration: '1.2s', preAllocatedVUs: 3, gracefulStop: '200ms' } } };
export default function () { sleep(9); }
