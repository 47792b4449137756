// A function replaced in the default export stays what it was for those who import it by name.
// files: results.js
import encoding, { b64encode } from 'k6/encoding';
import { report } from './results.js';

export default function () {
  const original = encoding.b64encode;
  encoding.b64encode = (text) => `mine ${original(text)}`;
  report([
    ['default', () => encoding.b64encode('a')],
    ['named', () => b64encode('a')],
  ]);
  encoding.b64encode = original;
  report([['restored', () => encoding.b64encode('a')]]);
}
