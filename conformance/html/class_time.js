// TimeElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<time id=a datetime=d>x</time><time id=b>y</time>`;
const all = (read) => parseHTML(text).find('time[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.datetime()),
  );
}
