// ObjectElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<form id=f><object id=a data=d height=1 name=n tabindex=2 type=t typemustmatch usemap=#m width=3></object></form><object id=b></object>`;
const all = (read) => parseHTML(text).find('object[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.data()),
    () => all((e) => e.form()),
    () => all((e) => e.height()),
    () => all((e) => e.name()),
    () => all((e) => e.tabIndex()),
    () => all((e) => e.type()),
    () => all((e) => e.typeMustMatch()),
    () => all((e) => e.useMap()),
    () => all((e) => e.width()),
  );
}
