// Named imports, and init code.
// files: results.js certificates.js
import x509, { getAltNames, getIssuer, getSubject, parse } from 'k6/crypto/x509';
import { certificates } from './certificates.js';
import { report } from './results.js';

const early = parse(certificates.minimal).subject.commonName;

export default function () {
  report([
    ['init', () => early],
    ['named', () => getSubject(certificates.leaf).commonName + getIssuer(certificates.leaf).commonName + getAltNames(certificates.rsa).length],
    ['default', () => Object.keys(x509).sort().join()],
    ['lengths', () => Object.values(x509).map((call) => call.length).join()],
    ['as JSON', () => JSON.stringify(x509.getSubject(certificates.minimal))],
  ]);
}
