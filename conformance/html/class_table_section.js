// TableSectionElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<table><thead id=a><tr id=r1><tr id=r2></thead><tbody id=b></tbody><tfoot id=c><tr id=r3></tfoot></table>`;
const all = (read) => parseHTML(text).find('thead[id], tbody[id], tfoot[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.rows()),
  );
}
