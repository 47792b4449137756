// SelectElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<form id=f><label id=l for=a>L</label><select id=a autofocus disabled name=n required size=3 tabindex=2><option id=o1 value=1>x<optgroup><option id=o2 selected>y</optgroup></select></form><select id=b multiple><option id=p1 selected>1<option id=p2 selected>2</select><select id=c></select><select id=d><option>1</select><select id=e><option disabled>1<option>2</select>`;
const all = (read) => parseHTML(text).find('select[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.autofocus()),
    () => all((e) => e.disabled()),
    () => all((e) => e.form()),
    () => all((e) => e.labels()),
    () => all((e) => e.length()),
    () => all((e) => e.multiple()),
    () => all((e) => e.name()),
    () => all((e) => e.options()),
    () => all((e) => e.required()),
    () => all((e) => e.selectedIndex()),
    () => all((e) => e.selectedOptions()),
    () => all((e) => e.size()),
    () => all((e) => e.tabIndex()),
    () => all((e) => e.type()),
    () => all((e) => e.value()),
  );
}
