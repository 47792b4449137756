// OptGroupElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<select><optgroup id=a disabled label=l></optgroup><optgroup id=b></select>`;
const all = (read) => parseHTML(text).find('optgroup[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.disabled()),
    () => all((e) => e.label()),
  );
}
