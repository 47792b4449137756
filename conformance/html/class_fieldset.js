// FieldSetElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<form id=f><fieldset id=a disabled name=n><input id=i><select id=s></select><button id=k></button><textarea id=t></textarea><output id=o></output><object id=ob></object></fieldset></form><fieldset id=b></fieldset>`;
const all = (read) => parseHTML(text).find('fieldset[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.disabled()),
    () => all((e) => e.elements()),
    () => all((e) => e.form()),
    () => all((e) => e.name()),
    () => all((e) => e.type()),
  );
}
