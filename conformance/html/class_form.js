// FormElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<form id=a accept-charset=utf-8 action=/x autocomplete=off enctype=text/plain method=POST name=n novalidate target=t><input id=i><select id=s></select><button id=k></button><textarea id=t></textarea><output id=o></output><object id=ob></object><fieldset id=fs></fieldset><input type=image id=im><keygen id=kg></form><form id=b></form><form id=c method=bogus enctype=bogus autocomplete=bogus action=""></form><input id=out form=a>`;
const all = (read) => parseHTML(text).find('form[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.acceptCharset()),
    () => all((e) => e.action()),
    () => all((e) => e.autocomplete()),
    () => all((e) => e.elements()),
    () => all((e) => e.encoding()),
    () => all((e) => e.enctype()),
    () => all((e) => e.length()),
    () => all((e) => e.method()),
    () => all((e) => e.name()),
    () => all((e) => e.noValidate()),
    () => all((e) => e.target()),
  );
}
