// Selection.closest().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('b').closest('p'),
    () => $('b').closest('b'),
    () => $('b').closest('div'),
    () => $('p').closest('div'),
    () => $('b').closest('table'),
    () => $('b').closest(''),
    () => $('b').closest(),
    () => $('b').closest(null),
    () => $('b').closest(12),
    () => (() => { const d = page(); return d.find('b').closest(d.find('div')); })(),
    () => (() => { const d = page(); return d.find('b').closest(d.find('#top').get(0)); })(),
    () => $('b').closest({}),
    () => $('#none').closest('p'),
    () => $('b').closest('html'),
  );
}
