// A graceful stop that is too short for some.
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 3, duration: '1s', gracefulStop: '500ms' } } };
export default function () { sleep(exec.vu.idInTest === 1 ? 10 : 1.2); }
