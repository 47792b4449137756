// An error thrown in a module on a server: its frames name the URL.
// imports
import { check } from 'k6';
import { fail } from '{MODULES}/throws.js';
export default function () {
  try {
    fail();
  } catch (error) {
    const frame = error.stack.split('\n').find((line) => line.includes('throws.js')).trim();
    check(1, { [`${error.name} ${error.message} ${frame.replace(__ENV.MODULES, 'MODULES').replace(/:\d+(\(\d+\))?\)$/, '')}`]: true });
  }
}
