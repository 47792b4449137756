// EmbedElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<embed id=a height=1 width=2 src=s type=t><embed id=b>`;
const all = (read) => parseHTML(text).find('embed[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.height()),
    () => all((e) => e.src()),
    () => all((e) => e.type()),
    () => all((e) => e.width()),
  );
}
