// All hashes of texts of many lengths, around the ends of their blocks.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const algorithms = ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160'];

export default function () {
  for (const algorithm of algorithms) {
    report([0, 1, 3, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 1000].map((length) => [
      `${algorithm} of ${length}`,
      () => crypto[algorithm]('abcdefghij'.repeat(100).slice(0, length), 'hex'),
    ]));
  }
}
