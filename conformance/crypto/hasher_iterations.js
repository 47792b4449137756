// A hasher of init code remembers what former iterations of its VU added.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const hasher = crypto.createHash('md5');

export const options = { iterations: 3, vus: 1 };

export default function () {
  hasher.update(`${__ITER}`);
  report([[`iteration ${__ITER}`, () => hasher.digest('hex')]]);
}
