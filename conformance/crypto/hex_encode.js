// hexEncode takes texts, buffers and views of bytes.
// files: results.js
import crypto from 'k6/crypto';
import { report, values } from './results.js';

export default function () {
  report(Object.entries(values).map(([name, value]) => [name, () => crypto.hexEncode(value)]));
  report([
    ['every byte', () => crypto.hexEncode(Uint8Array.from({ length: 256 }, (_, byte) => byte))],
    ['a digest', () => crypto.hexEncode(crypto.sha1('a', 'binary')) === crypto.sha1('a', 'hex')],
  ]);
}
