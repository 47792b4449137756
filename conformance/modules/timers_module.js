// k6/timers.
import { check } from 'k6';
import { setTimeout as later, setInterval, clearInterval } from 'k6/timers';
export default function () {
  let n = 0;
  const id = setInterval(() => { n += 1; if (n === 3) { clearInterval(id); check(n, { 'three times': (n) => n === 3 }); } }, 5);
  later(() => check(1, { once: true }), 10);
}
