// The output encodings of each hash.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const algorithms = ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160'];

export default function () {
  for (const algorithm of algorithms) {
    report(['hex', 'base64', 'base64url', 'base64rawurl', 'binary'].map((encoding) => [
      `${algorithm} ${encoding}`,
      () => crypto[algorithm]('subjects?>', encoding),
    ]));
  }
}
