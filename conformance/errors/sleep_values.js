// sleep() with texts and nothing.
import { sleep, check } from 'k6';
export default function () { sleep('0.01'); sleep(0); sleep(-1); check(1, { reached: true }); }
