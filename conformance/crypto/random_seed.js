// randomSeed() has no effect on random bytes.
// files: results.js
import crypto from 'k6/crypto';
import { randomSeed } from 'k6';
import { report } from './results.js';

export default function () {
  randomSeed(1);
  const first = crypto.hexEncode(crypto.randomBytes(16));
  randomSeed(1);
  report([['different', () => crypto.hexEncode(crypto.randomBytes(16)) !== first]]);
}
