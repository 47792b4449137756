// What a hasher takes.
// files: results.js
import crypto from 'k6/crypto';
import { report, values } from './results.js';

export default function () {
  report(Object.entries(values).map(([name, value]) => [
    name,
    () => {
      const hasher = crypto.createHash('md5');
      hasher.update('first');
      hasher.update(value);
      return hasher.digest('hex');
    },
  ]));
}
