// UListElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<ul id=a type=disc></ul><ul id=b></ul>`;
const all = (read) => parseHTML(text).find('ul[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.type()),
  );
}
