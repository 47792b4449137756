// TableHeaderCellElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<table><tr><td><th id=a colspan=2 rowspan=3 headers="x y" abbr=A scope=row sorted=s><th id=b></table>`;
const all = (read) => parseHTML(text).find('th[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.abbr()),
    () => all((e) => e.cellIndex()),
    () => all((e) => e.colSpan()),
    () => all((e) => e.headers()),
    () => all((e) => e.rowSpan()),
    () => all((e) => e.scope()),
    () => all((e) => e.sorted()),
  );
}
