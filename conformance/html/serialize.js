// Selection.serialize(), serializeArray() and serializeObject().
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
const text = `<form id=f action=/a><input name=text value="a b&c=d/é"><input name=empty value=""><input name=novalue><input value=noname><input name="" value=x><input name=dis value=x disabled><input type=checkbox name=c1 value=1 checked><input type=checkbox name=c2 value=2><input type=checkbox name=c3 checked><input type=radio name=r value=x><input type=radio name=r value=y checked><input type=submit name=sub value=go><input type=button name=btn value=go><input type=reset name=res value=go><input type=image name=img value=go src=x><input type=file name=file value=f><input type=hidden name=hid value=h><input type=PASSWORD name=pw value=p><input type=CHECKBOX name=c4 value=4><input type=unknown name=unk value=u><input name=multi value=1><input name=multi value=2><textarea name=ta>
line1
line2 </textarea><select name=s><option value=1>one<option value=2 selected>two</select><select name=s2><option>plain<option>x</select><select name=m multiple><option value=a selected>A<option value=b>B<option selected>C</select><select name=m2 multiple><option value=a>A</select><select name=s3></select><select name=s4><option disabled value=q>Q<option value=w>W</select><button name=b value=bv>B</button><button name=b2 type=submit value=bv>B</button><button name=b3 type=button value=bv>B</button><fieldset disabled><input name=indis value=x></fieldset><output name=out>o</output><keygen name=k><object name=obj></object><select name=sd disabled><option selected>1</select></form><input name=outside form=f value=o><div id=d><input name=indiv value=1></div>`;
const $ = (selector) => parseHTML(text).find(selector);
const one = (selector) => $(selector).get(0);
export default function () {
  probe(
    () => $('#f').serialize(),
    () => $('#f').serializeArray(),
    () => $('#f').serializeObject(),
    () => Object.keys($('#f').serializeArray()[0]),
    () => Array.isArray($('#f').serializeArray()),
    () => $('#f input').serialize(),
    () => $('#f input').serializeArray(),
    () => $('[name=multi]').serializeObject(),
    () => $('[name=multi]').serialize(),
    () => $('[name=text], [name=ta], [name=m]').serialize(),
    () => $('[name=m]').serializeObject(),
    () => $('[name=m2]').serializeObject(),
    () => $('#d').serialize(),
    () => $('#d').serializeArray(),
    () => $('#d input').serialize(),
    () => $('#none').serialize(),
    () => $('#none').serializeArray(),
    () => $('#none').serializeObject(),
    () => $('button').serialize(),
    () => $('option').serialize(),
    () => $('body').serialize(),
    () => $('[name=ta]').serializeArray(),
    () => $('#f, #d input').serialize(),
  );
}
