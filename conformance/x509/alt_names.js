// Alternative names, by kind.
// files: results.js certificates.js
import x509 from 'k6/crypto/x509';
import { certificates } from './certificates.js';
import { report } from './results.js';

export default function () {
  report(Object.keys(certificates).map((name) => [name, () => x509.getAltNames(certificates[name])]));
}
