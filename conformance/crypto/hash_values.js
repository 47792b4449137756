// What can be hashed: texts, buffers and views of bytes.
// files: results.js
import crypto from 'k6/crypto';
import { report, values } from './results.js';

export default function () {
  report(Object.entries(values).map(([name, value]) => [name, () => crypto.sha256(value, 'hex')]));
}
