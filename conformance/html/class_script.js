// ScriptElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<script id=a async charset=c crossorigin=x defer nomodule src=s type=t>var x = "<b>" && 1;</script><script id=b></script>`;
const all = (read) => parseHTML(text).find('script[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.async()),
    () => all((e) => e.charset()),
    () => all((e) => e.crossOrigin()),
    () => all((e) => e.defer()),
    () => all((e) => e.noModule()),
    () => all((e) => e.src()),
    () => all((e) => e.text()),
    () => all((e) => e.type()),
  );
}
