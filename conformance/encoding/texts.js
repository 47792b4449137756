// Texts are UTF-8 on either side; bytes that are not become replacement characters.
// files: results.js
import encoding from 'k6/encoding';
import { report } from './results.js';

const texts = ['héllo wörld', '日本語', '😀', '\ud83d', '\ude00\ud83d', 'a\u0000b', '\u00ff', '\ufeffbom', 'e\u0301'];
const bytes = [[0xff], [0xc3], [0xc3, 0x28], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98], [0xef, 0xbb, 0xbf, 0x61], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x61, 0x80, 0x62]];

export default function () {
  report(texts.map((text) => [JSON.stringify(text), () => encoding.b64encode(text)]));
  report(texts.map((text) => [`${JSON.stringify(text)} and back`, () => JSON.stringify(encoding.b64decode(encoding.b64encode(text), 'std', 's'))]));
  report(bytes.map((some) => [`${some}`, () => JSON.stringify(encoding.b64decode(encoding.b64encode(new Uint8Array(some)), 'std', 's'))]));
}
