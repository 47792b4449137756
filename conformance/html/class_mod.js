// ModElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<ins id=a cite=c datetime=d>x</ins><del id=b>y</del>`;
const all = (read) => parseHTML(text).find('ins[id], del[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.cite()),
    () => all((e) => e.datetime()),
  );
}
