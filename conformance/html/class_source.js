// SourceElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<video><source id=a keysystem=k media=m sizes=z src=s srcset=ss type=t><source id=b></video>`;
const all = (read) => parseHTML(text).find('source[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.keySystem()),
    () => all((e) => e.media()),
    () => all((e) => e.sizes()),
    () => all((e) => e.src()),
    () => all((e) => e.srcset()),
    () => all((e) => e.type()),
  );
}
