// LiElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<ol><li id=a type=a value=3>x<li id=b>y</ol><ul><li id=c value=x>z</ul><li id=d>q`;
const all = (read) => parseHTML(text).find('li[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.type()),
    () => all((e) => e.value()),
  );
}
