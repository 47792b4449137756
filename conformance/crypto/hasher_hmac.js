// createHMAC with each hash.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const algorithms = ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160'];

export default function () {
  for (const algorithm of algorithms) {
    const hasher = crypto.createHMAC(algorithm, 'a key');
    report([
      [`${algorithm} of nothing`, () => hasher.digest('hex')],
      [`${algorithm} update`, () => hasher.update('some ')],
      [`${algorithm} and`, () => hasher.update('data')],
      [`${algorithm} of data`, () => hasher.digest('hex')],
      [`${algorithm} as hmac()`, () => hasher.digest('hex') === crypto.hmac(algorithm, 'a key', 'some data', 'hex')],
      [`${algorithm} base64`, () => hasher.digest('base64')],
    ]);
  }
}
