// MapElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<map id=a name=m><area id=x><area id=y></map><img id=i usemap=#m><object id=o usemap=#m></object><map id=b></map>`;
const all = (read) => parseHTML(text).find('map[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.areas()),
    () => all((e) => e.images()),
    () => all((e) => e.name()),
  );
}
