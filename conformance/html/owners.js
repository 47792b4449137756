// Controls and the forms, labels and maps they belong to.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
const text = `<form id=f target=ft novalidate action=/fa><button id=b1></button><input id=i1><label id=l1 for=i2>x</label><fieldset id=fs><legend id=lg>y</legend></fieldset></form><input id=i2><input id=i3 form=f><input id=i4 form=nf><p id=nf></p><label id=l2 for=i1>z</label><map id=mid name=mname><area></map><img usemap="#mid"><img usemap="#mname"><select id=s><option id=o1>a &amp; <b>c</b> </option></select><textarea id=t value="é😀"></textarea><label id=l3><span><button id=b2></button></span></label><label id=l4><label id=l5><input id=i5></label></label>`;
const $ = (selector) => parseHTML(text).find(selector);
const one = (selector) => $(selector).get(0);
export default function () {
  probe(
    () => one('#b1').formTarget(),
    () => one('#i1').formTarget(),
    () => one('#i3').formTarget(),
    () => one('#b1').formNoValidate(),
    () => one('#i1').formNoValidate(),
    () => one('#i1').formAction(),
    () => one('#i3').formAction(),
    () => one('#l1').form(),
    () => one('#l2').form(),
    () => one('#l1').control(),
    () => one('#lg').form(),
    () => one('#i2').form(),
    () => one('#i3').form(),
    () => one('#i4').form(),
    () => one('#mid').images(),
    () => one('#o1').value(),
    () => one('#o1').text(),
    () => one('#o1').label(),
    () => $('#o1').val(),
    () => $('#s').val(),
    () => one('#t').length(),
    () => one('#b2').labels(),
    () => one('#i5').labels(),
    () => one('#fs').elements(),
    () => one('html').id(),
    () => one('html').className(),
  );
}
