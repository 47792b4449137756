// An output encoding is one of five names, and has no default.
// files: results.js
import crypto from 'k6/crypto';
import { report, values } from './results.js';

const cases = Object.entries(values).filter(([name]) => !['function', 'object without prototype', 'Date'].includes(name));

export default function () {
  report(cases.map(([name, value]) => [name, () => crypto.sha1('a', value)]));
  report(['HEX', 'Base64', 'base64raw', 'base64std', 'base64 ', 'utf8', 'latin1', 'buffer', 'bytes'].map((name) => [name, () => crypto.sha1('a', name)]));
  report([
    ['missing', () => crypto.sha1('a')],
    ['a String object', () => crypto.sha1('a', Object('hex'))],
    ['joined', () => crypto.sha1('a', 'he' + String('x'))],
    ['an object with toString', () => crypto.sha1('a', { toString: () => 'hex' })],
    ['one that throws', () => crypto.sha1('a', { toString() { throw new RangeError('mine'); } })],
  ]);
}
