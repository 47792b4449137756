// ramping-arrival-rate: gracefulStop cuts iterations that take longer.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'ramping-arrival-rate', startRate: 2, stages: [{ duration: '1.2s', target: 2 }], preAllocatedVUs: 3, gracefulStop: '200ms' } } };
export default function () { sleep(9); }
