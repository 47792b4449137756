// Public keys of each kind.
// files: results.js certificates.js
import x509 from 'k6/crypto/x509';
import { certificates } from './certificates.js';
import { report } from './results.js';

const big = (key, value) => (typeof value === 'bigint' ? `${value}` : value);

export default function () {
  for (const name of ['p224', 'p256', 'p384', 'p521', 'rsa', 'dsa', 'ed25519', 'ed448', 'k256']) {
    report([
      [`${name} algorithm`, () => x509.parse(certificates[name]).publicKey.algorithm],
      [`${name} numbers`, () => {
        const { x, y, n, e, p, q, g, parameters } = x509.parse(certificates[name]).publicKey.key;
        return JSON.stringify({ x, y, n, e, p, q, g, parameters }, big);
      }],
      [`${name} curve`, () => typeof x509.parse(certificates[name]).publicKey.key.curve],
      [`${name} subject`, () => x509.getSubject(certificates[name]).commonName],
    ]);
  }
}
