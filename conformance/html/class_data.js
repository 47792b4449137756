// DataElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<data id=a value=1>x</data><data id=b></data>`;
const all = (read) => parseHTML(text).find('data[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.value()),
  );
}
