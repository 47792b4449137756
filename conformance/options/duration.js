// duration is constant-vus; what runs at the end may finish.
import { sleep } from 'k6';
export const options = { duration: '1s', vus: 2 };
export default function () { sleep(0.65); }
