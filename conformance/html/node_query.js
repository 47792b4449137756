// Elements: looking for others, comparing.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
const text = `<div id=w title=T class="a b" lang=de data-x=1><p id=p>one <b id=b>two</b></p>tail<!-- c --><span id=s></span></div>`;
const $ = (selector) => parseHTML(text).find(selector);
const one = (selector) => $(selector).get(0);
export default function () {
  probe(
    () => one('#w').querySelector('b'),
    () => one('#w').querySelector('i'),
    () => one('#w').querySelector('#w'),
    () => one('#w').querySelector(''),
    () => one('#w').querySelector('!!'),
    () => one('#w').querySelector(),
    () => one('#w').querySelector(12),
    () => one('#w').querySelectorAll('*'),
    () => Array.isArray(one('#w').querySelectorAll('*')),
    () => one('#w').querySelectorAll('i'),
    () => one('#w').querySelectorAll(),
    () => one('#w').getElementsByTagName('b'),
    () => one('#w').getElementsByTagName('B'),
    () => one('#w').getElementsByTagName('*'),
    () => one('#w').getElementsByTagName('i'),
    () => one('html').getElementsByClassName('a'),
    () => one('html').getElementsByClassName('b a'),
    () => one('html').getElementsByClassName('none'),
    () => one('html').getElementsByClassName(''),
    () => one('#w').matches('.a'),
    () => one('#w').matches('p'),
    () => one('#w').matches('!!'),
    () => one('#w').matches(),
    () => (() => { const d = parseHTML(text); return d.find('#w').get(0).contains(d.find('b').get(0)); })(),
    () => (() => { const d = parseHTML(text); return d.find('b').get(0).contains(d.find('#w').get(0)); })(),
    () => (() => { const d = parseHTML(text); return d.find('b').get(0).contains(d.find('b').get(0)); })(),
    () => (() => { const d = parseHTML(text); return d.find('b').get(0).isSameNode(d.find('b').get(0)); })(),
    () => (() => { const d = parseHTML(text); return d.find('b').get(0).isSameNode(d.find('p').get(0)); })(),
    () => (() => { const d = parseHTML(text); return d.find('b').get(0).isEqualNode(d.find('b').get(0)); })(),
    () => (() => { const d = parseHTML(text); return d.find('b').get(0).isEqualNode(d.find('p').get(0)); })(),
    () => one('b').isSameNode(one('b')),
    () => one('b').isEqualNode(one('b')),
    () => one('#w').isEqualNode(one('#p')),
    () => parseHTML('<p>a</p><p>a</p><p>b</p>').find('p').get(0).isEqualNode(parseHTML('<p>a</p><p>a</p><p>b</p>').find('p').get(1)),
    () => parseHTML('<p>a</p><p>a</p><p>b</p>').find('p').get(0).isEqualNode(parseHTML('<p>a</p><p>a</p><p>b</p>').find('p').get(2)),
    () => parseHTML('<p id=a class=b>a</p>').find('p').get(0).isEqualNode(parseHTML('<p class=b id=a>a</p>').find('p').get(0)),
    () => (() => { const d = parseHTML(text); return d.find('#w').get(0) === d.find('#w').get(0); })(),
  );
}
