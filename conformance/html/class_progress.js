// ProgressElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<label id=l for=a>L</label><progress id=a max=10 value=3></progress><progress id=b></progress><progress id=c value=0.5></progress><progress id=d max=0 value=x></progress><progress id=e max=4 value=9></progress><progress id=g max=4 value=-1></progress>`;
const all = (read) => parseHTML(text).find('progress[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.labels()),
    () => all((e) => e.max()),
    () => all((e) => e.position()),
    () => all((e) => e.value()),
  );
}
