// DataListElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<datalist id=a><option id=o1>1</option><option id=o2 value=2></datalist><datalist id=b></datalist>`;
const all = (read) => parseHTML(text).find('datalist[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.options()),
  );
}
