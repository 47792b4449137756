// Every part of a certificate.
// files: results.js certificates.js
import x509 from 'k6/crypto/x509';
import { certificates } from './certificates.js';
import { report } from './results.js';

export default function () {
  const { publicKey, ...rest } = x509.parse(certificates.rsa);
  report(Object.entries(rest).map(([name, value]) => [name, () => value]));
  report([
    ['keys', () => Object.keys(x509.parse(certificates.rsa)).join()],
    ['algorithm', () => publicKey.algorithm],
    ['modulus', () => publicKey.key.n],
    ['exponent', () => publicKey.key.e],
  ]);
}
