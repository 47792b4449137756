// TableElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<table id=a sortable><caption id=cap>c</caption><thead id=th><tr id=r1></thead><tbody id=tb1><tr id=r2></tbody><tbody id=tb2><tr id=r3><td><table id=n><tr id=r4></table></td></tbody><tfoot id=tf><tr id=r5></tfoot></table><table id=b></table>`;
const all = (read) => parseHTML(text).find('table[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.caption()),
    () => all((e) => e.rows()),
    () => all((e) => e.sortable()),
    () => all((e) => e.tBodies()),
    () => all((e) => e.tFoot()),
    () => all((e) => e.tHead()),
  );
}
