// Line breaks may stand anywhere; other white space may not. Offsets count them.
// files: results.js
import encoding from 'k6/encoding';
import { report } from './results.js';

const texts = ['YW\nJj', '\nYWJj', 'YWJj\n', '\r\nYWJj\r\n', 'Y\nQ\n=\n=\n', 'YQ=\n', 'YQ=\n=', 'YQ=\nx', 'YQ\n', 'Y\nQ', '\n', '\n\n\r',
  'YWJj\nY', 'YWJj\n*', 'YWJj YWJj', 'YWJj\tYWJj', '\vYWJj', 'YWJj\u2028', 'YQ==\n\nx', '\n=', 'YWJj\nYQ\n'];

export default function () {
  for (const variant of ['std', 'rawstd']) {
    report(texts.map((text) => [`${variant} ${JSON.stringify(text)}`, () => encoding.b64decode(text, variant)]));
  }
}
