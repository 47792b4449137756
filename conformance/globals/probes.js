// How libraries find out where they run.
// files: results.js
import { report } from './results.js';

export default function () {
  report([
    ['browser', () => typeof window !== 'undefined' && typeof window.document !== 'undefined'],
    ['node', () => typeof process !== 'undefined' && process.versions != null && process.versions.node != null],
    ['worker', () => typeof self === 'object' && self.constructor && self.constructor.name],
    ['deno', () => typeof Deno !== 'undefined'],
    ['this in a function', () => (function () { return typeof this; })()],
    ['Function("return this")', () => Function('return this')() === globalThis],
    ['in', () => ['URL', 'atob', 'fetch', 'Buffer', 'crypto'].filter((name) => name in globalThis).join()],
  ]);
}
