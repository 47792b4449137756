// Selection.children().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('#top').children(),
    () => $('div').children(),
    () => $('div').children('p'),
    () => $('div').children('.x'),
    () => $('#p1').children(),
    () => $('#none').children(),
    () => $('#top').children(''),
    () => $('#top').children(null),
    () => $('#top').children(undefined),
    () => $('#top').children(12),
    () => $('#top').children($('#p1')),
    () => (() => { const d = page(); return d.find('#top').children(d.find('#p1')); })(),
    () => (() => { const d = page(); return d.find('#top').children(d.find('#p1').get(0)); })(),
    () => $('#top').children('!!'),
    () => $('#top').children('p').end(),
  );
}
