// Selection.val().
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
const text = `<input id=i value=v><input id=n><input id=c type=checkbox checked><input id=c2 type=checkbox value=on2><input id=r type=radio><textarea id=t> a <b>x</b>
</textarea><select id=s><option value=1>one</option><option value=2 selected>two</option></select><select id=s2><option>plain</option><option>other</select><select id=s3 multiple><option value=a selected>A<option value=b>B<option selected>C</select><select id=s4 multiple><option>x</select><select id=s5></select><select id=s6><option selected value=f>F<option selected value=g>G</select><select id=s7><option disabled value=q>Q<option value=w>W</select><button id=b value=bv>text</button><option id=o value=ov>ot</option><option id=o2> ot2 </option><li id=l value=3><p id=p>x</p><progress id=g value=5></progress><output id=u>out</output><param id=m value=pv><meter id=e value=1><data id=d value=7></data>`;
const $ = (selector) => parseHTML(text).find(selector);
const one = (selector) => $(selector).get(0);
export default function () {
  probe(
    () => $('#i').val(),
    () => $('#n').val(),
    () => $('#c').val(),
    () => $('#c2').val(),
    () => $('#r').val(),
    () => $('#t').val(),
    () => $('#s').val(),
    () => $('#s2').val(),
    () => $('#s3').val(),
    () => $('#s4').val(),
    () => $('#s5').val(),
    () => $('#s6').val(),
    () => $('#s7').val(),
    () => $('#b').val(),
    () => $('#o').val(),
    () => $('#o2').val(),
    () => $('#l').val(),
    () => $('#p').val(),
    () => $('#g').val(),
    () => $('#u').val(),
    () => $('#m').val(),
    () => $('#e').val(),
    () => $('#d').val(),
    () => $('#none').val(),
    () => $('input').val(),
    () => $('select').val(),
    () => Array.isArray($('#s3').val()),
    () => $('#i').val('x'),
    () => $('form').val(),
  );
}
