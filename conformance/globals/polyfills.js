// Scripts may define what is missing, or replace what is there.
// files: results.js
import encoding from 'k6/encoding';
import { report } from './results.js';

globalThis.URL = class URL { constructor(text) { this.href = text; } };
globalThis.atob = (text) => encoding.b64decode(text, 'std', 's');
globalThis.btoa = (text) => encoding.b64encode(text);
globalThis.TextEncoder = class { encode(text) { return `mine ${text}`; } };
globalThis.performance = { now: () => 5 };
globalThis.setImmediate = (callback) => setTimeout(callback, 0);

export default function () {
  report([
    ['URL', () => new URL('http://a/').href],
    ['atob', () => atob(btoa('hello'))],
    ['TextEncoder', () => new TextEncoder().encode('a')],
    ['performance', () => performance.now()],
    ['setImmediate', () => typeof setImmediate],
  ]);
}
