// Tags of dropped iterations, with vu asked for.
// out: json
// flags: --system-tags scenario,vu
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 5, maxDuration: '1s' } } };
export default function () { sleep(0.65); }
