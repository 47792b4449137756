import { sleep, randomSeed } from 'k6';
const before = Date.now();
sleep(0.02);
if (Date.now() - before < 20) throw new Error('sleep works in init code');
export default function () {
  const took = (seconds) => { const t = Date.now(); sleep(seconds); const d = Date.now() - t; return d; };
  console.log(took('0.1') >= 100, took(0.05) >= 50, took(0) < 50, took(-1) < 50, took() < 50, took(null) < 50, took('x') < 50, took(NaN) < 50, took(true) >= 1000);
  console.log(sleep(0.001));
  randomSeed(42); const a = [Math.random(), Math.random()];
  randomSeed(42); const b = [Math.random(), Math.random()];
  randomSeed(43); const c = Math.random();
  console.log(a[0] === b[0] && a[1] === b[1], a[0] === c, a[0] === a[1]);
}
