// What can be a key.
// files: results.js
import crypto from 'k6/crypto';
import { report, values } from './results.js';

export default function () {
  report(Object.entries(values).map(([name, value]) => [name, () => crypto.hmac('sha256', value, 'data', 'hex')]));
}
