// What maxDuration does not let begin is dropped.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 2, iterations: 10, maxDuration: '1s' } } };
export default function () { sleep(0.65); }
