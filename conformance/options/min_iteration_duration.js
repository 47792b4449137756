// minIterationDuration fills up short iterations.
import { sleep } from 'k6';
export const options = { minIterationDuration: '650ms', duration: '1s', vus: 2 };
export default function () { sleep(0.01); }
