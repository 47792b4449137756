// Fingerprints and dates.
// files: results.js certificates.js
import x509 from 'k6/crypto/x509';
import { certificates } from './certificates.js';
import { report } from './results.js';

export default function () {
  const parsed = x509.parse(certificates.rsa);
  const readable = Object.keys(certificates).filter((name) => !['ed25519', 'ed448', 'k256'].includes(name));
  report(readable.map((name) => [name, () => x509.parse(certificates[name]).fingerPrint]));
  report(readable.map((name) => [`${name} dates`, () => `${x509.parse(certificates[name]).notBefore} ${x509.parse(certificates[name]).notAfter}`]));
  report([
    ['an array', () => Array.isArray(parsed.fingerPrint) && parsed.fingerPrint.length],
    ['in hex', () => parsed.fingerPrint.map((byte) => byte.toString(16).padStart(2, '0')).join(':')],
  ]);
}
