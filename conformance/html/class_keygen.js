// KeygenElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<form id=f><label id=l for=a>L</label><keygen id=a autofocus challenge=c disabled keytype=k name=n></form><keygen id=b>`;
const all = (read) => parseHTML(text).find('keygen[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.autofocus()),
    () => all((e) => e.challenge()),
    () => all((e) => e.disabled()),
    () => all((e) => e.form()),
    () => all((e) => e.keytype()),
    () => all((e) => e.labels()),
    () => all((e) => e.name()),
    () => all((e) => e.type()),
  );
}
