// duration with iterations limits their time.
import { sleep } from 'k6';
export const options = { duration: '1s', iterations: 5 };
export default function () { sleep(0.65); }
