// Globals of a script are its VU’s own.
// files: results.js
import { report } from './results.js';

globalThis.counter = 0;
export const options = { scenarios: { one: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } } };

export default function () {
  globalThis.counter += 1;
  globalThis[`of${__VU}`] = true;
  const others = [1, 2, 3].filter((vu) => vu !== __VU && globalThis[`of${vu}`]);
  report([
    ['counted', () => counter === __ITER + 1],
    ['of others', () => others.length],
    ['the same object', () => globalThis === global],
  ]);
}
