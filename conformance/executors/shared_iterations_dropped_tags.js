// Dropped shared iterations: one sample, its tags.
// out: json
import { sleep } from 'k6';
export const options = {
  tags: { run: 'x' },
  scenarios: { s: { executor: 'shared-iterations', vus: 2, iterations: 9, maxDuration: '1s', tags: { kind: 'k' } } },
};
export default function () { sleep(0.65); }
