// It works in init code, in setup() and in VU code.
// files: results.js
import encoding from 'k6/encoding';
import { report } from './results.js';

const header = `Basic ${encoding.b64encode('user:pass word')}`;

export function setup() {
  return { header: `Basic ${encoding.b64encode('user:pass word')}` };
}

export default function (data) {
  report([
    ['init', () => header],
    ['setup', () => data.header],
    ['VU', () => `Basic ${encoding.b64encode('user:pass word')}`],
  ]);
}
