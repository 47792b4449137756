// A text in lines of 76 characters, as e-mails have it.
// files: results.js
import encoding from 'k6/encoding';
import { report, show } from './results.js';

const bytes = Uint8Array.from({ length: 1000 }, (_, index) => (index * 7) % 256);

export default function () {
  const text = encoding.b64encode(bytes).replace(/.{76}/g, '$&\r\n');
  report([
    ['characters', () => text.length],
    ['the same bytes', () => show(new Uint8Array(encoding.b64decode(text))) === show(bytes)],
    ['the last', () => new Uint8Array(encoding.b64decode(text)).subarray(990)],
  ]);
}
