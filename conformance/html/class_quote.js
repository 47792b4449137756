// quotations, which have no accessors of their own.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<q id=a cite=c>x</q><blockquote id=b cite=d>y</blockquote>`;
const all = (read) => parseHTML(text).find('q[id], blockquote[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.nodeName()),
  );
}
