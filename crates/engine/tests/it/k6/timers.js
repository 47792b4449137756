import { sleep } from 'k6';
import { setTimeout as later, clearTimeout as never } from 'k6/timers';
export default function () {
  const log = (text) => console.log(text);
  setTimeout(log, 30, 'timeout 30'); setTimeout(log, 0, 'timeout 0'); setTimeout(log, 10, 'timeout 10'); setTimeout(() => log('timeout none'));
  Promise.resolve().then(() => log('microtask'));
  let n = 0; const id = setInterval(() => { log(`interval ${n}`); n += 1; if (n === 3) clearInterval(id); }, 40);
  const gone = setTimeout(log, 5, 'never'); clearTimeout(gone); clearTimeout(12345); clearTimeout(undefined); clearInterval(null);
  later((a, b) => log(a + b), 20, 'mod', 'ule');
  never(later(log, 1, 'not this'));
  try { setTimeout('code', 1); } catch (e) { log(e instanceof Error); }
  try { setInterval(null, 1); } catch (e) { log(String(e)); }
  sleep(0.06);
  log('end of function');
}
