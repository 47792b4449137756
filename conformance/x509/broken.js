// What is in the block is not a certificate.
// files: results.js certificates.js
import x509 from 'k6/crypto/x509';
import { certificates } from './certificates.js';
import encoding from 'k6/encoding';
import { report } from './results.js';

const der = new Uint8Array(encoding.b64decode(certificates.rsa.replace(/-----[^-]*-----|\s/g, '')));
const block = (bytes) => `-----BEGIN CERTIFICATE-----\n${encoding.b64encode(new Uint8Array(bytes))}\n-----END CERTIFICATE-----\n`;

export default function () {
  for (const call of ['parse', 'getSubject', 'getIssuer', 'getAltNames']) {
    report([1, 2, 4, 100, 300, der.length - 1].map((length) => [`${call} cut at ${length}`, () => x509[call](block(der.slice(0, length)))]));
    report([
      [`${call} of more`, () => x509[call](block([...der, 0]))],
      [`${call} of zeros`, () => x509[call](block(Array(100).fill(0)))],
      [`${call} of an empty sequence`, () => x509[call](block([0x30, 0]))],
      [`${call} of a number`, () => x509[call](block([0x02, 1, 1]))],
      [`${call} of an unknown curve`, () => x509[call](certificates.k256)],
    ]);
  }
}
