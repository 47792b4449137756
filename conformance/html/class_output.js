// OutputElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<form id=f><label id=l for=a>L</label><output id=a for="x y" name=n>va <b>l</b></output></form><output id=b></output>`;
const all = (read) => parseHTML(text).find('output[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.defaultValue()),
    () => all((e) => e.form()),
    () => all((e) => e.htmlFor()),
    () => all((e) => e.labels()),
    () => all((e) => e.name()),
    () => all((e) => e.type()),
    () => all((e) => e.value()),
  );
}
