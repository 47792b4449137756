// StyleElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<style id=a media=print type=text/css>a {}</style><style id=b></style>`;
const all = (read) => parseHTML(text).find('style[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.media()),
    () => all((e) => e.type()),
  );
}
