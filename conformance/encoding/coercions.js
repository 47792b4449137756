// Objects become strings by their own methods, whose errors pass through.
// files: results.js
import encoding from 'k6/encoding';
import { report } from './results.js';

export default function () {
  report([
    ['toString', () => encoding.b64decode({ toString: () => 'YQ==' })],
    ['valueOf is not asked', () => encoding.b64decode({ valueOf: () => 'YQ==' })],
    ['throws', () => encoding.b64decode({ toString() { throw new RangeError('mine'); } })],
    ['variant', () => encoding.b64encode('>>>a', { toString: () => 'rawurl' })],
    ['variant throws', () => encoding.b64encode('a', { toString() { throw new RangeError('mine'); } })],
    ['String object', () => encoding.b64decode(Object('YQ=='))],
    ['no arguments', () => encoding.b64encode()],
    ['too many', () => encoding.b64encode('a', 'std', 1, 2)],
    ['decoding nothing', () => encoding.b64decode()],
    ['number', () => encoding.b64decode(1234)],
  ]);
}
