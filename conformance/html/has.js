// Selection.has().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('div').has('li'),
    () => $('p').has('b'),
    () => $('p').has('i'),
    () => $('p').has(''),
    () => $('p').has(),
    () => $('p').has(null),
    () => $('p').has(12),
    () => $('p').has({}),
    () => $('b').has('b'),
    () => (() => { const d = page(); return d.find('p, div').has(d.find('b')); })(),
    () => (() => { const d = page(); return d.find('p, div').has(d.find('b').get(0)); })(),
    () => $('p').has($('b')),
    () => $('p').has('!!'),
  );
}
