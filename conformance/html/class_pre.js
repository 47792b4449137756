// PreElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<pre id=a name=n value=v>x</pre><pre id=b>y</pre>`;
const all = (read) => parseHTML(text).find('pre[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.name()),
    () => all((e) => e.value()),
  );
}
