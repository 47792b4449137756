// TableDataCellElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<table><tr><td id=a colspan=2 rowspan=3 headers="x y"><td id=b><td id=c colspan=x rowspan=-1></table>`;
const all = (read) => parseHTML(text).find('td[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.cellIndex()),
    () => all((e) => e.colSpan()),
    () => all((e) => e.headers()),
    () => all((e) => e.rowSpan()),
  );
}
