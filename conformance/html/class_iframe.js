// IFrameElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<iframe id=a allowfullscreen height=1 width=2 name=n referrerpolicy=r src=s></iframe><iframe id=b></iframe>`;
const all = (read) => parseHTML(text).find('iframe[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.allowfullscreen()),
    () => all((e) => e.height()),
    () => all((e) => e.name()),
    () => all((e) => e.referrerPolicy()),
    () => all((e) => e.src()),
    () => all((e) => e.width()),
  );
}
