// Elements: relatives.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
const text = `<div id=w title=T class="a b" lang=de data-x=1><p id=p>one <b id=b>two</b></p>tail<!-- c --><span id=s></span></div>`;
const $ = (selector) => parseHTML(text).find(selector);
const one = (selector) => $(selector).get(0);
export default function () {
  probe(
    () => one('#w').children(),
    () => Array.isArray(one('#w').children()),
    () => one('#w').childNodes(),
    () => one('#w').childElementCount(),
    () => one('#w').firstChild(),
    () => one('#w').firstElementChild(),
    () => one('#w').lastChild(),
    () => one('#w').lastElementChild(),
    () => one('#p').firstChild(),
    () => one('#p').firstElementChild(),
    () => one('#p').nextSibling(),
    () => one('#p').nextElementSibling(),
    () => one('#p').previousElementSibling(),
    () => one('#s').nextElementSibling(),
    () => one('#s').previousSibling(),
    () => one('#s').previousElementSibling(),
    () => one('#s').firstElementChild(),
    () => one('#s').lastElementChild(),
    () => one('#s').children(),
    () => one('#s').childNodes(),
    () => one('#s').childElementCount(),
    () => one('#s').hasChildNodes(),
    () => one('#p').hasChildNodes(),
    () => one('#p').parentNode(),
    () => one('#p').parentElement(),
    () => one('html').parentNode(),
    () => one('html').parentElement(),
    () => one('#p').ownerDocument(),
    () => one('html').ownerDocument(),
    () => parseHTML(text).get(0).parentNode(),
    () => parseHTML(text).get(0).parentElement(),
    () => parseHTML(text).get(0).firstChild(),
    () => parseHTML(text).get(0).children(),
    () => one('#p').selection(),
    () => one('#p').selection().find('b'),
    () => one('#p').selection().end(),
    () => one('#p').selection().url,
    () => $('#w').contents().get(1).nextSibling(),
    () => $('#w').contents().get(1).parentElement(),
    () => $('#w').contents().get(1).nextElementSibling(),
  );
}
