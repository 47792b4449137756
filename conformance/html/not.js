// Selection.not().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('p').not('.x'),
    () => $('p').not('p'),
    () => $('p').not('#none'),
    () => $('p').not(''),
    () => $('p').not(),
    () => $('p').not(null),
    () => $('p').not(12),
    () => $('p').not({}),
    () => $('p').not('!!'),
    () => $('p').not((i, e) => i > 0),
    () => $('p').not((i, s) => s.text() === 'three'),
    () => $('p').not(() => { throw new Error('from the callback'); }),
    () => (() => { const d = page(); return d.find('p').not(d.find('.x')); })(),
    () => (() => { const d = page(); return d.find('p').not(d.find('#p1').get(0)); })(),
    () => $('p').not($('.x')),
    () => $('#none').not('p'),
  );
}
