// TextAreaElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<form id=f><label id=l for=a>L</label><textarea id=a accesskey=k autocapitalize=words autocomplete=off cols=5 maxlength=9 placeholder=p readonly required rows=4 tabindex=2 wrap=hard>\na &amp; <b>é</textarea></form><textarea id=b></textarea><textarea id=c cols=x>12</textarea>`;
const all = (read) => parseHTML(text).find('textarea[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.accessKey()),
    () => all((e) => e.autocapitalize()),
    () => all((e) => e.autocomplete()),
    () => all((e) => e.cols()),
    () => all((e) => e.defaultValue()),
    () => all((e) => e.form()),
    () => all((e) => e.labels()),
    () => all((e) => e.length()),
    () => all((e) => e.maxLength()),
    () => all((e) => e.placeholder()),
    () => all((e) => e.readOnly()),
    () => all((e) => e.required()),
    () => all((e) => e.rows()),
    () => all((e) => e.tabIndex()),
    () => all((e) => e.type()),
    () => all((e) => e.value()),
    () => all((e) => e.wrap()),
  );
}
