// ParamElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<object><param id=a name=n value=v><param id=b></object>`;
const all = (read) => parseHTML(text).find('param[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.name()),
    () => all((e) => e.value()),
  );
}
