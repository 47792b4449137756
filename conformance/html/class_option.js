// OptionElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<form id=f><select id=s><option id=a>one</option><option id=b disabled label=L selected value=v>  two  x </option><optgroup disabled><option id=c>three</optgroup></select></form><datalist><option id=d></datalist>`;
const all = (read) => parseHTML(text).find('option[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.defaultSelected()),
    () => all((e) => e.disabled()),
    () => all((e) => e.form()),
    () => all((e) => e.index()),
    () => all((e) => e.label()),
    () => all((e) => e.selected()),
    () => all((e) => e.text()),
    () => all((e) => e.value()),
  );
}
