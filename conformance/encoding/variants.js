// Each variant of Base64, with bytes that need its own two characters, and each length of the last group.
// files: results.js
import encoding from 'k6/encoding';
import { report, show } from './results.js';

const inputs = ['', 'a', 'ab', 'abc', '>>>???', new Uint8Array([0xfb, 0xff, 0xfe]), new Uint8Array([0xff])];

export default function () {
  for (const variant of ['std', 'rawstd', 'url', 'rawurl']) {
    report(inputs.map((input) => [`${variant} of ${show(input)}`, () => encoding.b64encode(input, variant)]));
    report(
      inputs.map((input) => [
        `${variant} and back of ${show(input)}`,
        () => encoding.b64decode(encoding.b64encode(input, variant), variant),
      ]),
    );
  }
}
