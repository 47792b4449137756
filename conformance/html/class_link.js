// LinkElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<link id=a crossorigin=use-credentials href=/x hreflang=en media=print referrerpolicy=r rel="stylesheet  alternate" target=t type=text/css><link id=b>`;
const all = (read) => parseHTML(text).find('link[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.crossOrigin()),
    () => all((e) => e.href()),
    () => all((e) => e.hreflang()),
    () => all((e) => e.media()),
    () => all((e) => e.referrerPolicy()),
    () => all((e) => e.rel()),
    () => all((e) => e.relList()),
    () => all((e) => e.target()),
    () => all((e) => e.type()),
  );
}
