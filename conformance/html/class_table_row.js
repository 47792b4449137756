// TableRowElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<table><thead><tr id=a><th id=h1></thead><tbody><tr id=b><td id=d1><th id=h2><td id=d2></tr><tr id=c></tbody></table>`;
const all = (read) => parseHTML(text).find('tr[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.cells()),
    () => all((e) => e.rowIndex()),
    () => all((e) => e.sectionRowIndex()),
  );
}
