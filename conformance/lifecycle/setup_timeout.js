// setup() that takes too long.
import { sleep } from 'k6';
export const options = { setupTimeout: '500ms' };
export function setup() { sleep(30); }
export default function () {}
