// OListElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<ol id=a reversed start=3 type=A></ol><ol id=b></ol><ol id=c start=x></ol>`;
const all = (read) => parseHTML(text).find('ol[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.reversed()),
    () => all((e) => e.start()),
    () => all((e) => e.type()),
  );
}
