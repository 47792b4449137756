// What can be passed.
// files: results.js certificates.js
import x509 from 'k6/crypto/x509';
import { certificates } from './certificates.js';
import { report } from './results.js';

const bytes = Uint8Array.from(certificates.minimal.split(''), (character) => character.charCodeAt(0));

export default function () {
  report([
    ['nothing', () => x509.parse()],
    ['undefined', () => x509.getSubject(undefined)],
    ['null', () => x509.getIssuer(null)],
    ['a number', () => x509.getAltNames(1)],
    ['a boolean', () => x509.parse(true)],
    ['an object', () => x509.parse({})],
    ['an empty array', () => x509.parse([])],
    ['a buffer', () => x509.getSubject(bytes.buffer).commonName],
    ['a view', () => x509.getSubject(bytes).commonName],
    ['an array of numbers', () => x509.getSubject(Array.from(bytes)).commonName],
  ]);
}
