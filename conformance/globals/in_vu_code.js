// open() and require() in VU code, __ITER in init code.
// files: results.js
import { report } from './results.js';

const early = typeof __ITER;

export default function () {
  report([
    ['init', () => early],
    ['open', () => open('x.txt')],
    ['require', () => require('k6')],
    ['__ITER', () => __ITER],
  ]);
}
