// A wrong call of a hasher leaves it as it was.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

export default function () {
  const hasher = crypto.createHash('sha256');
  hasher.update('a');
  report([
    ['update with a number', () => hasher.update(1)],
    ['update without argument', () => hasher.update()],
    ['digest without encoding', () => hasher.digest()],
    ['digest with an unknown one', () => hasher.digest('HEX')],
    ['still', () => hasher.digest('hex') === crypto.sha256('a', 'hex')],
    ['as JSON', () => JSON.stringify(hasher)],
    ['as text', () => String(hasher)],
  ]);
}
