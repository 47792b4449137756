// Dropped arrivals have the tags of the run and the scenario's name, not its tags.
// out: json
import { sleep } from 'k6';
export const options = {
  tags: { run: 'x' },
  scenarios: { s: { executor: 'constant-arrival-rate', rate: 4, timeUnit: '1050ms', duration: '1s', preAllocatedVUs: 1, gracefulStop: '0s', tags: { kind: 'k' } } },
};
export default function () { sleep(10); }
