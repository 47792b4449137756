// MeterElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<label id=l for=a>L</label><meter id=a high=8 low=2 max=10 min=1 optimum=5 value=3></meter><meter id=b></meter><meter id=c high=x></meter>`;
const all = (read) => parseHTML(text).find('meter[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.high()),
    () => all((e) => e.labels()),
    () => all((e) => e.low()),
    () => all((e) => e.max()),
    () => all((e) => e.min()),
    () => all((e) => e.optimum()),
  );
}
