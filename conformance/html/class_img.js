// ImageElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<img id=a alt=x crossorigin=anonymous height=1 ismap name=n referrerpolicy=r sizes=z src=s srcset=ss usemap=#m width=2><img id=b><img id=c crossorigin height=x>`;
const all = (read) => parseHTML(text).find('img[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.alt()),
    () => all((e) => e.crossOrigin()),
    () => all((e) => e.currentSrc()),
    () => all((e) => e.height()),
    () => all((e) => e.isMap()),
    () => all((e) => e.name()),
    () => all((e) => e.referrerPolicy()),
    () => all((e) => e.sizes()),
    () => all((e) => e.src()),
    () => all((e) => e.srcset()),
    () => all((e) => e.useMap()),
    () => all((e) => e.width()),
  );
}
