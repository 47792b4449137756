// Random bytes: how many, and that they are.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const sizes = [1, 2, 16, 4096, 4097, 100000, 3.9, '5', ' 4 ', '0x10', '3.7', true, [7], Object(3), { valueOf: () => 6 }, { toString: () => '6' }];
const wrong = [0, -1, 0.9, -0.5, NaN, undefined, null, '', 'x', false, [], [1, 2], {}, -Infinity];

export default function () {
  report(sizes.map((size) => [`${JSON.stringify(size)}`, () => crypto.randomBytes(size).byteLength]));
  report(wrong.map((size) => [`${JSON.stringify(size)} is wrong`, () => crypto.randomBytes(size)]));
  report([
    ['missing', () => crypto.randomBytes()],
    ['a buffer', () => crypto.randomBytes(8) instanceof ArrayBuffer],
    ['different', () => crypto.hexEncode(crypto.randomBytes(16)) !== crypto.hexEncode(crypto.randomBytes(16))],
    ['all values', () => new Set(new Uint8Array(crypto.randomBytes(10000))).size],
    ['can be written to', () => { const bytes = new Uint8Array(crypto.randomBytes(10000)); bytes.fill(7); return bytes[9999]; }],
    ['throws', () => crypto.randomBytes({ valueOf() { throw new RangeError('mine'); } })],
  ]);
}
