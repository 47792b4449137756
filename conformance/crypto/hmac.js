// HMAC of each hash, with keys shorter and longer than a block.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const algorithms = ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160'];

export default function () {
  for (const algorithm of algorithms) {
    report([0, 1, 20, 64, 65, 128, 129, 300].map((length) => [
      `${algorithm} with a key of ${length}`,
      () => crypto.hmac(algorithm, 'k'.repeat(length), 'what do ya want for nothing?', 'hex'),
    ]));
    report(['base64', 'base64url', 'base64rawurl', 'binary'].map((encoding) => [
      `${algorithm} ${encoding}`,
      () => crypto.hmac(algorithm, 'Jefe', 'what do ya want for nothing?', encoding),
    ]));
  }
}
