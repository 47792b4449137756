// ColElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<table><colgroup id=a span=2></colgroup><colgroup><col id=b span=3><col id=c><col id=d span=x></colgroup></table>`;
const all = (read) => parseHTML(text).find('col[id], colgroup[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.span()),
  );
}
