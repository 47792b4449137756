// A timeout of setup() as a number is milliseconds.
import { sleep } from 'k6';
export const options = { setupTimeout: 500 };
export function setup() { sleep(30); }
export default function () {}
