// Which texts are PEM.
// files: results.js certificates.js
import x509 from 'k6/crypto/x509';
import { certificates } from './certificates.js';
import { report } from './results.js';

const pem = certificates.rsa;
const texts = {
  'another label': pem.replace(/CERTIFICATE/g, 'FOO'),
  'labels that differ': pem.replace('BEGIN CERTIFICATE', 'BEGIN FOO'),
  'text before': `text\n\n${pem}`,
  'text before on the line': `text ${pem}`,
  'text after': `${pem}xyz`,
  'two blocks': certificates.minimal + pem,
  'a broken block before': `-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n${pem}`,
  'CR LF': pem.replace(/\n/g, '\r\n'),
  'on one line': pem.replace(/\n/g, ''),
  'no end': pem.replace(/-----END.*/, ''),
  'no last line break': pem.trim(),
  'wrong Base64': pem.replace('MII', 'M*I'),
  'an empty block': '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n',
  headers: pem.replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\nX: y\n\n'),
  indented: pem.replace(/^/gm, ' '),
  'blanks at the ends of lines': pem.replace(/\n/g, ' \n'),
  'tabs at the ends of lines': pem.replace(/\n/g, '\t\n'),
  'four dashes': pem.replace(/-----/g, '----'),
  'six dashes': pem.replace(/-----/g, '------'),
  empty: '',
  garbage: 'garbage',
};

export default function () {
  report(Object.entries(texts).map(([name, text]) => [name, () => x509.getSubject(text).commonName]));
}
