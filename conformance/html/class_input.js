// InputElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<datalist id=dl><option>1</datalist><form id=f action=/fa method=post><label id=l for=a>L</label><input id=a accept=ac accesskey=k alt=al autocomplete=off autofocus checked dirname=dn disabled formaction=/x formenctype=text/plain formmethod=get formnovalidate formtarget=t height=1 list=dl max=9 maxlength=5 min=1 multiple name=n pattern=p placeholder=ph readonly required size=7 src=s step=2 tabindex=4 type=number value=v width=3></form><input id=b><input id=c type=bogus maxlength=x size=x list=none form=f><input id=d type=checkbox>`;
const all = (read) => parseHTML(text).find('input[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.accept()),
    () => all((e) => e.accessKey()),
    () => all((e) => e.alt()),
    () => all((e) => e.autocomplete()),
    () => all((e) => e.autofocus()),
    () => all((e) => e.checked()),
    () => all((e) => e.defaultChecked()),
    () => all((e) => e.defaultValue()),
    () => all((e) => e.dirName()),
    () => all((e) => e.disabled()),
    () => all((e) => e.form()),
    () => all((e) => e.formAction()),
    () => all((e) => e.formEnctype()),
    () => all((e) => e.formMethod()),
    () => all((e) => e.formNoValidate()),
    () => all((e) => e.formTarget()),
    () => all((e) => e.height()),
    () => all((e) => e.labels()),
    () => all((e) => e.list()),
    () => all((e) => e.max()),
    () => all((e) => e.maxLength()),
    () => all((e) => e.min()),
    () => all((e) => e.multiple()),
    () => all((e) => e.name()),
    () => all((e) => e.pattern()),
    () => all((e) => e.placeholder()),
    () => all((e) => e.readonly()),
    () => all((e) => e.required()),
    () => all((e) => e.size()),
    () => all((e) => e.src()),
    () => all((e) => e.step()),
    () => all((e) => e.tabIndex()),
    () => all((e) => e.type()),
    () => all((e) => e.value()),
    () => all((e) => e.width()),
  );
}
