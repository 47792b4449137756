// ButtonElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<form id=f action=/fa enctype=text/plain method=post target=ft novalidate><label id=l for=a>L</label><label id=l2>M<button id=a accesskey=k autofocus disabled formaction=/ba formenctype=multipart/form-data formmethod=get formnovalidate formtarget=bt name=n tabindex=3 type=reset value=v>x</button></label></form><form id=g><button id=b>x</button></form><button id=c type=bogus tabindex=x form=g formmethod=bogus formenctype=bogus disabled=false>y</button><fieldset disabled><button id=d>z</button></fieldset>`;
const all = (read) => parseHTML(text).find('button[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.accessKey()),
    () => all((e) => e.autofocus()),
    () => all((e) => e.disabled()),
    () => all((e) => e.form()),
    () => all((e) => e.formAction()),
    () => all((e) => e.formEnctype()),
    () => all((e) => e.formMethod()),
    () => all((e) => e.formNoValidate()),
    () => all((e) => e.formTarget()),
    () => all((e) => e.labels()),
    () => all((e) => e.name()),
    () => all((e) => e.tabIndex()),
    () => all((e) => e.type()),
    () => all((e) => e.value()),
  );
}
