// Sleeps that fit no duration of Go's have passed already.
import { check, sleep } from 'k6';
export default function () {
  for (const seconds of [Infinity, 1e10, -Infinity, NaN, -1, 0]) {
    const start = Date.now();
    sleep(seconds);
    check(1, { [`${seconds} ${Date.now() - start < 5000}`]: true });
  }
}
