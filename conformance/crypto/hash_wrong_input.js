// Each hash names itself in the error about its input.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const algorithms = ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160'];

export default function () {
  for (const algorithm of algorithms) {
    report([
      [`${algorithm} of a number`, () => crypto[algorithm](1, 'hex')],
      [`${algorithm} of nothing`, () => crypto[algorithm]()],
      [`${algorithm} of a number without an encoding`, () => crypto[algorithm]({})],
    ]);
  }
}
