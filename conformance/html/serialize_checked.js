// Which controls serialize() takes: checked, disabled, submit buttons.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
const text = `<form id=f><input type=checkbox name=a checked=checked value=1><input type=checkbox name=b checked="true" value=1><input type=checkbox name=c checked="" value=1><input type=radio name=d checked=checked value=1><input name=e disabled=disabled value=1><input name=g disabled=true value=1><input type=submit name=h value=1><input type=image name=i value=1><input type=reset name=j value=1><input type=button name=k value=1><input type=file name=l><input type=SUBMIT name=m value=1><button name=n type=submit value=1>x</button><select name=o><option selected=selected>1</select><input type=checkbox name=p value=1></form>`;
const $ = (selector) => parseHTML(text).find(selector);
const one = (selector) => $(selector).get(0);
export default function () {
  probe(
    () => $('#f').serialize(),
    () => $('#f input').serialize(),
    () => $('#f').serializeObject(),
    () => $('#f').serializeArray(),
    () => $('[name=a]').serialize(),
    () => $('[name=c]').serializeArray(),
    () => $('[name=h]').serialize(),
  );
}
