// LegendElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<form id=f><fieldset><legend id=a accesskey=k>x</legend></fieldset></form><legend id=b>y</legend>`;
const all = (read) => parseHTML(text).find('legend[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.accessKey()),
    () => all((e) => e.form()),
  );
}
