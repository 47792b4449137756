// A duration as a text without a unit is milliseconds, too.
import { sleep } from 'k6';
export const options = { duration: '1000' };
export default function () { sleep(0.65); }
