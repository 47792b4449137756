// Texts and buffers of more than a piece.
// files: results.js
import encoding from 'k6/encoding';
import { report } from './results.js';

const megabyte = 'abcdefghijklmnop'.repeat(1 << 16);
const wide = '日本語é'.repeat(1 << 16);

const sum = (buffer) => new Uint8Array(buffer).reduce((all, byte) => (all * 31 + byte) % 1000003, 7);

export default function () {
  const text = encoding.b64encode(megabyte);
  const broken = `${text.slice(0, 1000003)}*${text.slice(1000004)}`;
  report([
    ['characters', () => text.length],
    ['back', () => encoding.b64decode(text, 'std', 's') === megabyte],
    ['bytes', () => sum(encoding.b64decode(text))],
    ['wide', () => encoding.b64encode(wide).length],
    ['wide and back', () => encoding.b64decode(encoding.b64encode(wide), 'std', 's') === wide],
    ['buffer', () => encoding.b64encode(encoding.b64decode(text)) === text],
    ['window', () => encoding.b64encode(new Uint8Array(encoding.b64decode(text), 1, 600001)).length],
    ['broken far inside', () => encoding.b64decode(broken)],
    ['wide far inside', () => encoding.b64decode(text.slice(0, 1000001) + '日')],
  ]);
}
