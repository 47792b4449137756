// BaseElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<head><base id=a href="http://b.test/x/" target=t></head><base id=b>`;
const all = (read) => parseHTML(text).find('base[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.href()),
    () => all((e) => e.target()),
  );
}
