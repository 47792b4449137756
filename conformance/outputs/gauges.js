// vus and vus_max in lines of a run of over a second.
// keep: vus vus_max
// flags: --tag run=x
import { sleep } from 'k6';
export const options = { vus: 2, iterations: 2 };
export default function () { sleep(1.3); }
