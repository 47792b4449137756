// A duration as a number is milliseconds.
import { sleep } from 'k6';
export const options = { duration: 1000 };
export default function () { sleep(0.65); }
