// Views of a part of a buffer, and buffers behind views.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const bytes = Uint8Array.from({ length: 16 }, (_, index) => index);

export default function () {
  report([
    ['all', () => crypto.hexEncode(bytes)],
    ['subarray', () => crypto.hexEncode(bytes.subarray(4, 8))],
    ['from an offset', () => crypto.hexEncode(new Uint8Array(bytes.buffer, 12))],
    ['clamped', () => crypto.hexEncode(new Uint8ClampedArray(bytes.buffer, 2, 3))],
    ['buffer of a subarray', () => crypto.hexEncode(bytes.subarray(4, 8).buffer)],
    ['buffer of wider elements', () => crypto.hexEncode(new Uint16Array([0x102, 0x304]).buffer)],
    ['slice', () => crypto.hexEncode(bytes.buffer.slice(1, 3))],
    ['a class of its own', () => crypto.hexEncode(new (class Own extends Uint8Array {})(2))],
    ['hmac', () => crypto.hmac('md5', bytes.subarray(0, 4), bytes.subarray(4, 8), 'hex') === crypto.hmac('md5', bytes.buffer.slice(0, 4), bytes.buffer.slice(4, 8), 'hex')],
  ]);
}
