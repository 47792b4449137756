// Named imports, the namespace and the default export.
// files: results.js
import crypto, { createHash, sha256 } from 'k6/crypto';
import * as namespace from 'k6/crypto';
import { report } from './results.js';

export default function () {
  report([
    ['named', () => sha256('a', 'hex') === crypto.sha256('a', 'hex')],
    ['namespace', () => Object.keys(namespace).filter((key) => key !== 'default').sort().join()],
    ['default', () => Object.keys(crypto).sort().join()],
    ['lengths', () => Object.keys(crypto).sort().map((name) => crypto[name].length).join()],
    ['hasher', () => createHash('md5').digest('hex')],
    ['detached', () => { const { md5 } = crypto; return md5('a', 'hex'); }],
  ]);
}
