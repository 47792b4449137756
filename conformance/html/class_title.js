// TitleElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<title id=a>x &amp; y</title><svg><title id=b>z</title></svg>`;
const all = (read) => parseHTML(text).find('title[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.text()),
  );
}
