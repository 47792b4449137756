// MetaElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<meta id=a content=c http-equiv=h name=n><meta id=b>`;
const all = (read) => parseHTML(text).find('meta[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.content()),
    () => all((e) => e.httpEquiv()),
    () => all((e) => e.name()),
  );
}
