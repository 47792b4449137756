// externally-controlled, of k6 1.x: its VUs run for its duration.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'externally-controlled', vus: 2, maxVUs: 5, duration: '1s' } } };
export default function () { sleep(10); }
