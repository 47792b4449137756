// stages is ramping-vus; VUs of a stage of no length start at once.
import { sleep } from 'k6';
export const options = { vus: 0, stages: [{ duration: '0s', target: 3 }, { duration: '1s', target: 3 }] };
export default function () { sleep(0.65); }
