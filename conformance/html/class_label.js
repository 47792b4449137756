// LabelElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<form id=f><label id=a for=i>x</label><input id=i></form><label id=b><input id=j>y</label><label id=c>z</label><label id=d for=none>q</label>`;
const all = (read) => parseHTML(text).find('label[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.control()),
    () => all((e) => e.form()),
    () => all((e) => e.htmlFor()),
  );
}
