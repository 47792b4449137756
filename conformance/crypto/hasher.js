// A hasher goes on after its digest was taken.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const algorithms = ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160'];

export default function () {
  for (const algorithm of algorithms) {
    const hasher = crypto.createHash(algorithm);
    report([
      [`${algorithm} of nothing`, () => hasher.digest('hex')],
      [`${algorithm} update`, () => hasher.update('a')],
      [`${algorithm} of a`, () => hasher.digest('hex')],
      [`${algorithm} again`, () => hasher.digest('hex')],
      [`${algorithm} update with bytes`, () => hasher.update(new Uint8Array([98, 99]).buffer)],
      [`${algorithm} of abc`, () => hasher.digest('hex') === crypto[algorithm]('abc', 'hex')],
      [`${algorithm} binary`, () => hasher.digest('binary')],
    ]);
  }
}
