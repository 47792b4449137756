// The gauge of VUs is read before those of the last second are gone.
// keep: vus vus_max
import { sleep } from 'k6';
export const options = { vus: 3, duration: '2s' };
export default function () { sleep(0.3); }
